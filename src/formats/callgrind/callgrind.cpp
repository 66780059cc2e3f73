#include "formats/callgrind/callgrind.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "exchange/exclusive_times.hpp"
#include "exchange/format_text.hpp"
#include "exchange/names.hpp"
#include "exchange/path_values.hpp"
#include "exchange/tracks.hpp"
#include "profile/on_path.hpp"

namespace timeloom::callgrind {

using exchange::append_number;
using exchange::Destination;
using exchange::Options;

namespace {

struct Cost {
  std::uint64_t time = 0;  // nanoseconds
  std::uint64_t visits = 0;
  std::uint64_t estimated = 0;  // nanoseconds of the time

  void add(const Cost& other) {
    time += other.time;
    visits += other.visits;
    estimated += other.estimated;
  }
};

struct Call {
  std::uint64_t count = 0;
  Cost cost;  // of the called functions together
};

struct Function {
  Cost self;
  std::map<std::uint32_t, Call> calls;  // by called function
};

using Functions = std::map<std::uint32_t, Function>;

// A name is written in full once in each part; later uses give its number.
class Names {
 public:
  std::string operator()(std::uint64_t number, const std::string& name) {
    std::string text = "(" + std::to_string(number + 1) + ")";
    if (known_.insert(number).second) text += " " + name;
    return text;
  }
  void forget() { known_.clear(); }

 private:
  std::set<std::uint64_t> known_;
};

// A function, as readers distinguish it: by file and name.
struct FunctionFacts {
  std::string name;
  std::uint32_t file = 0;  // in the list of files
  std::uint32_t line = 0;  // the first that is known
};

class FunctionTable {
 public:
  explicit FunctionTable(const Definitions& definitions) {
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> known;
    for (std::uint32_t i = 0; i <= definitions.regions.size(); ++i) {
      const bool defined = i < definitions.regions.size();
      static const Region kNone;
      const Region& region = defined ? definitions.regions[i] : kNone;
      const RegionId id = defined ? RegionId{i} : RegionId{};
      FunctionFacts facts{exchange::one_line(exchange::region_name(definitions, id)),
                          file_number(region.file), region.first_line};
      const auto next = static_cast<std::uint32_t>(functions_.size());
      const auto [found, fresh] = known.try_emplace({facts.file, facts.name}, next);
      if (fresh) functions_.push_back(std::move(facts));
      of_region_.push_back(found->second);
    }
  }

  std::uint32_t number_of(RegionId region) const {
    return region.defined() ? of_region_[region.value()] : of_region_.back();
  }
  const FunctionFacts& operator[](std::uint32_t number) const { return functions_[number]; }
  const std::string& file(std::uint32_t number) const { return files_[number]; }

 private:
  std::uint32_t file_number(const std::string& file) {
    const std::string shown = file.empty() ? "???" : exchange::one_line(file);
    const auto next = static_cast<std::uint32_t>(files_.size());
    const auto [found, fresh] = file_numbers_.try_emplace(shown, next);
    if (fresh) files_.push_back(shown);
    return found->second;
  }

  std::vector<FunctionFacts> functions_;
  std::vector<std::uint32_t> of_region_;  // the last: call paths beyond a limit
  std::vector<std::string> files_;
  std::map<std::string, std::uint32_t> file_numbers_;
};

class CallgrindWriter {
 public:
  CallgrindWriter(const profile::CallTree& tree, const Options& options, Destination& out)
      : tree_(tree),
        options_(options),
        out_(out),
        clock_(tree.definitions.clock),
        table_(tree.definitions),
        values_(tree),
        estimates_(values_.has(exchange::PathValue::kEstimated)),
        inside_(tree.nodes.size()),
        has_cell_(tree.nodes.size()) {
    profile::RegionsOnPath on_path;
    for (const profile::Node& node : tree.nodes) {
      outermost_.push_back(on_path.enter(table_.number_of(node.region), node.depth));
    }
  }

  void write() {
    out_.write("# callgrind format\nversion: 1\ncreator: " + options_.creator + "\n");
    const exchange::Tracks tracks(tree_.definitions);
    several_ = tracks.processes.size() > 1;
    exchange::ExclusiveTimes times(tree_);
    Cost all;
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) {
      const exchange::Track& track = tracks.tracks[i];
      write_head(i, track, tracks.processes[track.process]);
      all.add(write_functions(functions_of(tree_.locations[i], times)));
    }
    // The sum of all parts at the place where callgrind_annotate looks first; it knows one part
    // only.
    std::string text = "\nsummary:";
    add_cost(text, all);
    out_.write(text);
  }

 private:
  std::uint32_t function_of(profile::NodeId node) const {
    return table_.number_of(tree_.nodes[node.value()].region);
  }

  // Each thread is a part, as `callgrind --combine-dumps=yes` writes it. The line of events ends a
  // head; KCachegrind starts new names there.
  void write_head(std::size_t index, const exchange::Track& track,
                  const exchange::Process& process) {
    std::string text = "\npid: ";
    append_number(text, process.id);
    // KCachegrind requires one command for each file.
    if (index == 0) {
      text +=
          "\ncmd: " + exchange::one_line(process.command.empty() ? process.name : process.command);
    }
    text += "\npart: ";
    append_number(text, index + 1);
    text += "\nthread: ";
    append_number(text, index + 1);
    text += "\ndesc: Thread: ";
    if (several_) text += exchange::one_line(process.name) + ": ";
    text += exchange::one_line(track.name) + "\npositions: line\nevents: Nanoseconds Visits";
    text += estimates_ ? " Estimated\n" : "\n";
    out_.write(text);
    file_names_.forget();
    function_names_.forget();
  }

  // Recursive calls have no cost: the outermost call includes it.
  Functions functions_of(const profile::LocationProfile& location,
                         exchange::ExclusiveTimes& times) {
    values_.read(location);
    add_up(location, times);
    Functions functions;
    times.for_each(location, [&](const profile::Cell& cell, std::uint64_t exclusive) {
      const std::uint32_t function = function_of(cell.node);
      functions[function].self.add(own_cost(cell, exclusive));
      const profile::NodeId parent = tree_.nodes[cell.node.value()].parent;
      if (!parent.defined()) return;
      Call& call = functions[function_of(parent)].calls[function];
      call.count += cell.statistics.visits;
      if (!outermost_[cell.node.value()]) return;
      const Cost& inside = inside_[cell.node.value()];
      call.cost.add(
          {clock_.nanoseconds(cell.statistics.inclusive), inside.visits, inside.estimated});
    });
    return functions;
  }

  Cost own_cost(const profile::Cell& cell, std::uint64_t exclusive) const {
    Cost cost{clock_.nanoseconds(exclusive), cell.statistics.visits};
    if (!estimates_) return cost;
    cost.estimated = values_.value(exchange::PathValue::kEstimated, cell.node, cost.time);
    return cost;
  }

  // The visits and estimates of everything inside. Cells are in the order of the nodes, and nodes
  // follow their parents.
  void add_up(const profile::LocationProfile& location, exchange::ExclusiveTimes& times) {
    times.for_each(location, [&](const profile::Cell& cell, std::uint64_t exclusive) {
      inside_[cell.node.value()] = own_cost(cell, exclusive);
      has_cell_[cell.node.value()] = true;
    });
    for (std::size_t i = location.cells.size(); i-- > 0;) {
      const profile::NodeId node = location.cells[i].node;
      has_cell_[node.value()] = false;  // all nodes below have been added
      profile::NodeId above = tree_.nodes[node.value()].parent;
      while (above.defined() && !has_cell_[above.value()])
        above = tree_.nodes[above.value()].parent;
      if (above.defined()) inside_[above.value()].add(inside_[node.value()]);
    }
  }

  std::string name_of(std::uint32_t function) {
    return function_names_(function, table_[function].name);
  }
  std::string file_of(std::uint32_t function) {
    const std::uint32_t file = table_[function].file;
    return file_names_(file, table_.file(file));
  }

  // Returns the sum of the exclusive times of the functions.
  Cost write_functions(const Functions& functions) {
    std::string text;
    Cost sum;
    for (const auto& [number, function] : functions) {
      text += "\nfl=" + file_of(number) + "\nfn=" + name_of(number) + "\n";
      append_number(text, table_[number].line);
      add_cost(text, function.self);
      sum.add(function.self);
      for (const auto& [called, call] : function.calls) {
        text += "cfi=" + file_of(called) + "\ncfn=" + name_of(called) + "\ncalls=";
        append_number(text, call.count);
        text += ' ';
        append_number(text, table_[called].line);
        text += '\n';
        append_number(text, table_[number].line);
        add_cost(text, call.cost);
      }
      if (text.size() < 1 << 16) continue;
      out_.write(text);
      text.clear();
    }
    text += "\ntotals:";
    add_cost(text, sum);
    out_.write(text);
    return sum;
  }

  void add_cost(std::string& text, const Cost& cost) const {
    text += ' ';
    append_number(text, cost.time);
    text += ' ';
    append_number(text, cost.visits);
    if (estimates_) {
      text += ' ';
      append_number(text, cost.estimated);
    }
    text += '\n';
  }

  const profile::CallTree& tree_;
  const Options& options_;
  Destination& out_;
  exchange::RunClock clock_;
  FunctionTable table_;
  exchange::PathValues values_;
  const bool estimates_;         // whether the run has any
  std::vector<bool> outermost_;  // by node: its function does not occur above it
  std::vector<Cost> inside_;     // by node, for the cells of one location
  std::vector<bool> has_cell_;
  bool several_ = false;  // processes
  Names file_names_;
  Names function_names_;
};

void write_paths(const profile::CallTree& tree, const Options& options, Destination& out) {
  CallgrindWriter(tree, options, out).write();
}

}  // namespace

const exchange::Format kFormat = {
    .name = "callgrind",
    .suffix = "callgrind",
    .opened_by = "kcachegrind, qcachegrind, callgrind_annotate",
    .of_paths = write_paths,
};

}  // namespace timeloom::callgrind
