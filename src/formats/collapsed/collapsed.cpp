#include "formats/collapsed/collapsed.hpp"

#include <cmath>

#include "exchange/exclusive_times.hpp"
#include "exchange/format_text.hpp"
#include "exchange/names.hpp"
#include "exchange/tracks.hpp"
#include "profile/diff.hpp"

namespace timeloom::collapsed {

using exchange::Destination;
using exchange::Options;
using exchange::Weight;

namespace {

// A stack is a list of names separated by semicolons, which cannot be quoted.
std::string frame(std::string_view name) {
  std::string text = exchange::one_line(name);
  for (char& byte : text) {
    if (byte == ';') byte = ':';
  }
  return text.empty() ? "?" : text;
}

std::string with_parameters(std::string name, const std::string& parameters) {
  return parameters.empty() ? std::move(name) : std::move(name) + " {" + parameters + "}";
}

std::vector<std::string> frames_of(const profile::CallTree& tree) {
  std::vector<std::string> frames;
  for (const profile::Node& node : tree.nodes) {
    std::string parameters;
    if (node.parameters.defined()) {
      parameters = text_of(tree.parameter_sets[node.parameters.value()]);
    }
    frames.push_back(
        frame(with_parameters(exchange::region_name(tree.definitions, node.region), parameters)));
  }
  return frames;
}

// The threads are the roots of the stacks, below their process where there are several.
std::string root_of(const exchange::Tracks& tracks, const exchange::Track& track) {
  if (tracks.tracks.size() == 1) return {};
  const std::string thread = frame(track.name);
  if (tracks.processes.size() == 1) return thread;
  return frame(tracks.processes[track.process].name) + ";" + thread;
}

// The frames from the root to a node.
template <typename Node>
void add_stack(std::string& text, const std::vector<Node>& nodes, profile::NodeId node,
               const std::vector<std::string>& frames) {
  std::vector<std::uint32_t> path;
  for (; node.defined(); node = nodes[node.value()].parent) path.push_back(node.value());
  for (std::size_t i = path.size(); i-- > 0;) {
    text += frames[path[i]];
    if (i > 0) text += ';';
  }
}

class LocationWriter {
 public:
  LocationWriter(const profile::CallTree& tree, const Options& options, Destination& out)
      : tree_(tree), frames_(frames_of(tree)), times_(tree), options_(options), out_(out) {}

  void write(const profile::LocationProfile& location, const std::string& root) {
    const exchange::RunClock clock(tree_.definitions.clock);
    std::string text;
    times_.for_each(location, [&](const profile::Cell& cell, std::uint64_t exclusive) {
      const std::uint64_t value = options_.weight == Weight::kVisits ? cell.statistics.visits
                                                                     : clock.nanoseconds(exclusive);
      if (value == 0) return;
      if (!root.empty()) text += root + ';';
      add_stack(text, tree_.nodes, cell.node, frames_);
      text += ' ';
      exchange::append_number(text, profile::signed_value(value));
      text += '\n';
      if (text.size() < 1 << 16) return;
      out_.write(text);
      text.clear();
    });
    out_.write(text);
  }

 private:
  const profile::CallTree& tree_;
  std::vector<std::string> frames_;  // by node
  exchange::ExclusiveTimes times_;
  const Options& options_;
  Destination& out_;
};

double value_of(const profile::DiffSide& side, Weight weight) {
  return weight == Weight::kVisits ? static_cast<double>(side.visits)
                                   : std::round(side.exclusive * 1e9);
}

// Call paths of both runs, over all threads together, because threads of two runs cannot be
// matched.
void write_difference(const profile::CallTree& tree, const Options& options, Destination& out) {
  const profile::Diff diff = profile::compare(*options.before, tree);
  std::vector<std::string> frames;
  for (const profile::DiffNode& node : diff.nodes) {
    const std::string& name = diff.regions[node.region].name;
    frames.push_back(
        frame(with_parameters(name.empty() ? "(more call paths)" : name, node.parameters)));
  }
  for (std::size_t i = 0; i < diff.nodes.size(); ++i) {
    const double before = value_of(diff.nodes[i].before, options.weight);
    const double after = value_of(diff.nodes[i].after, options.weight);
    if (before == 0 && after == 0) continue;
    std::string text;
    add_stack(text, diff.nodes, profile::NodeId{static_cast<std::uint32_t>(i)}, frames);
    text += ' ';
    exchange::append_number(text, static_cast<std::int64_t>(before));
    text += ' ';
    exchange::append_number(text, static_cast<std::int64_t>(after));
    out.write(text + '\n');
  }
}

void write_paths(const profile::CallTree& tree, const Options& options, Destination& out) {
  if (options.before != nullptr) return write_difference(tree, options, out);
  const exchange::Tracks tracks(tree.definitions);
  LocationWriter writer(tree, options, out);
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    writer.write(tree.locations[i], root_of(tracks, tracks.tracks[i]));
  }
}

}  // namespace

const exchange::Format kFormat = {
    .name = "collapsed",
    .suffix = "folded",
    .opened_by = "flamegraph.pl, inferno, https://speedscope.app",
    .of_paths = write_paths,
    .differences = true,
    .weights = true,
    .whole_stacks = true,
};

}  // namespace timeloom::collapsed
