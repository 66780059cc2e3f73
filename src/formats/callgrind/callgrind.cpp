#include "formats/callgrind/callgrind.hpp"

#include <map>
#include <set>

#include "convert/exclusive_times.hpp"
#include "convert/names.hpp"
#include "convert/text.hpp"
#include "convert/tracks.hpp"

namespace timeloom::callgrind {

using convert::append_number;
using convert::Destination;
using convert::Options;

namespace {

struct Cost {
  std::uint64_t calls = 0;
  std::uint64_t time = 0;  // nanoseconds
};

struct Function {
  std::uint64_t visits = 0;
  std::uint64_t own = 0;
  std::map<std::uint32_t, Cost> calls;  // by the function that is called
};

// Names that have been written once are given by their numbers.
class Names {
 public:
  std::string operator()(std::uint64_t number, const std::string& name) {
    std::string text = "(" + std::to_string(number + 1) + ")";
    if (known_.insert(number).second) text += " " + name;
    return text;
  }

 private:
  std::set<std::uint64_t> known_;
};

class CallgrindWriter {
 public:
  CallgrindWriter(const profile::CallTree& tree, const Options& options, Destination& out)
      : tree_(tree), options_(options), out_(out), clock_(tree.definitions.clock) {
    for (std::uint32_t i = 0; i <= regions(); ++i) {
      const bool known = i < regions() && !tree.definitions.regions[i].file.empty();
      const std::string file = known ? tree.definitions.regions[i].file : "???";
      files_.push_back(file_numbers_.try_emplace(file, file_numbers_.size()).first->second);
    }
  }

  void write() {
    std::string head = "# callgrind format\nversion: 1\ncreator: " + options_.creator + "\n";
    head += "positions: line\nevents: Nanoseconds Visits\n";
    out_.write(head);
    const convert::Tracks tracks(tree_.definitions);
    several_ = tracks.processes.size() > 1;
    convert::ExclusiveTimes times(tree_);
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) {
      const convert::Track& track = tracks.tracks[i];
      const convert::Process& process = tracks.processes[track.process];
      write_part(i, track, process);
      write_functions(functions_of(tree_.locations[i], times));
    }
  }

 private:
  std::uint32_t regions() const {
    return static_cast<std::uint32_t>(tree_.definitions.regions.size());
  }
  std::uint32_t function_of(profile::NodeId node) const {
    const RegionId region = tree_.nodes[node.value()].region;
    return region.defined() ? region.value() : regions();
  }
  std::uint32_t line_of(std::uint32_t function) const {
    return function < regions() ? tree_.definitions.regions[function].first_line : 0;
  }

  // Each thread is a part with a summary of its own, as `callgrind --combine-dumps=yes` writes it.
  void write_part(std::size_t index, const convert::Track& track, const convert::Process& process) {
    std::string text = "\npid: ";
    append_number(text, process.id);
    text += "\ncmd: " + convert::one_line(process.command.empty() ? process.name : process.command);
    text += "\npart: ";
    append_number(text, index + 1);
    text += "\nthread: ";
    append_number(text, index + 1);
    text += "\ndesc: Thread: ";
    if (several_) text += convert::one_line(process.name) + ": ";
    text += convert::one_line(track.name) + "\n";
    out_.write(text);
  }

  std::map<std::uint32_t, Function> functions_of(const profile::LocationProfile& location,
                                                 convert::ExclusiveTimes& times) const {
    std::map<std::uint32_t, Function> functions;
    times.for_each(location, [&](const profile::Cell& cell, std::uint64_t exclusive) {
      const std::uint32_t function = function_of(cell.node);
      Function& own = functions[function];
      own.visits += cell.statistics.visits;
      own.own += clock_.nanoseconds(exclusive);
      const profile::NodeId parent = tree_.nodes[cell.node.value()].parent;
      if (!parent.defined()) return;
      Cost& cost = functions[function_of(parent)].calls[function];
      cost.calls += cell.statistics.visits;
      cost.time += clock_.nanoseconds(cell.statistics.inclusive);
    });
    return functions;
  }

  std::string name_of(std::uint32_t function) {
    const RegionId region = function < regions() ? RegionId{function} : RegionId{};
    return function_names_(function,
                           convert::one_line(convert::region_name(tree_.definitions, region)));
  }
  std::string file_of(std::uint32_t function) {
    const bool known = function < regions() && !tree_.definitions.regions[function].file.empty();
    return file_names_(files_[function],
                       known ? convert::one_line(tree_.definitions.regions[function].file) : "???");
  }

  void write_functions(const std::map<std::uint32_t, Function>& functions) {
    std::string text;
    for (const auto& [number, function] : functions) {
      text += "\nfl=" + file_of(number) + "\nfn=" + name_of(number) + "\n";
      add_costs(text, line_of(number), function.own, function.visits);
      for (const auto& [called, cost] : function.calls) {
        text += "cfi=" + file_of(called) + "\ncfn=" + name_of(called) + "\ncalls=";
        append_number(text, cost.calls);
        text += ' ';
        append_number(text, line_of(called));
        text += '\n';
        add_costs(text, line_of(number), cost.time, cost.calls);
      }
      if (text.size() < 1 << 16) continue;
      out_.write(text);
      text.clear();
    }
    out_.write(text);
  }

  static void add_costs(std::string& text, std::uint32_t line, std::uint64_t time,
                        std::uint64_t visits) {
    append_number(text, line);
    text += ' ';
    append_number(text, time);
    text += ' ';
    append_number(text, visits);
    text += '\n';
  }

  const profile::CallTree& tree_;
  const Options& options_;
  Destination& out_;
  convert::RunClock clock_;
  std::map<std::string, std::uint64_t> file_numbers_;
  std::vector<std::uint64_t> files_;  // by function
  bool several_ = false;              // processes
  Names file_names_;
  Names function_names_;
};

void write_paths(const profile::CallTree& tree, const Options& options, Destination& out) {
  CallgrindWriter(tree, options, out).write();
}

}  // namespace

const convert::Format kFormat = {
    .name = "callgrind",
    .suffix = "callgrind",
    .opened_by = "kcachegrind, qcachegrind, callgrind_annotate",
    .of_paths = write_paths,
};

}  // namespace timeloom::callgrind
