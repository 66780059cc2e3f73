#include "formats/collapsed/collapsed.hpp"

#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "exchange/exclusive_times.hpp"
#include "exchange/format_text.hpp"
#include "exchange/names.hpp"
#include "exchange/path_values.hpp"
#include "exchange/tracks.hpp"
#include "profile/diff.hpp"
#include "profile/samples/throttled_times.hpp"

namespace timeloom::collapsed {

using exchange::Destination;
using exchange::Options;
using exchange::PathValue;
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
  const std::vector<bool> estimated = profile::estimated_nodes(tree);
  std::vector<std::string> frames;
  for (const profile::Node& node : tree.nodes) {
    std::string parameters;
    if (node.parameters.defined()) {
      parameters = text_of(tree.parameter_sets[node.parameters.value()]);
    }
    std::string name = exchange::region_name(tree.definitions, node.region);
    if (estimated[frames.size()]) name.insert(name.begin(), exchange::kEstimateMark);
    frames.push_back(frame(with_parameters(std::move(name), parameters)));
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

// The value that a weight stands for; nothing: time or visits, which each run has.
std::optional<PathValue> path_value_of(Weight weight) {
  switch (weight) {
    case Weight::kWork: return PathValue::kWork;
    case Weight::kWaiting: return PathValue::kWaiting;
    case Weight::kAllocated: return PathValue::kAllocated;
    case Weight::kHeldAtPeak: return PathValue::kHeldAtPeak;
    case Weight::kHeldAtEnd: return PathValue::kHeldAtEnd;
    case Weight::kTime:
    case Weight::kVisits: break;
  }
  return std::nullopt;
}

// The weights of the call paths of a location. Throws Error if the run has none of this kind.
class Weights {
 public:
  Weights(const profile::CallTree& tree, Weight weight)
      : clock_(tree.definitions.clock),
        times_(tree),
        values_(tree),
        weight_(weight),
        kind_(path_value_of(weight)) {
    if (!kind_ || values_.has(*kind_)) return;
    const bool of_time = kind_ == PathValue::kWork || kind_ == PathValue::kWaiting;
    throw Error(of_time ? "--weight: the run has not measured for how long it waited; use --weight "
                          "time [TL450]"
                        : "--weight: the run has no allocations; record them with timeloom run "
                          "--memory [TL451]");
  }

  // Calls take(node, weight) for each call path.
  template <typename Take>
  void for_each(const profile::LocationProfile& location, const Take& take) {
    if (kind_) values_.read(location);
    times_.for_each(location, [&](const profile::Cell& cell, std::uint64_t exclusive) {
      const std::uint64_t own = clock_.nanoseconds(exclusive);
      if (kind_) return take(cell.node, values_.value(*kind_, cell.node, own));
      take(cell.node, weight_ == Weight::kVisits ? cell.statistics.visits : own);
    });
  }

 private:
  exchange::RunClock clock_;
  exchange::ExclusiveTimes times_;
  exchange::PathValues values_;
  Weight weight_;
  std::optional<PathValue> kind_;
};

class LocationWriter {
 public:
  LocationWriter(const profile::CallTree& tree, const Options& options, Destination& out)
      : tree_(tree), frames_(frames_of(tree)), weights_(tree, options.weight), out_(out) {}

  void write(const profile::LocationProfile& location, const std::string& root) {
    std::string text;
    weights_.for_each(location, [&](profile::NodeId node, std::uint64_t value) {
      if (value == 0) return;
      if (!root.empty()) text += root + ';';
      add_stack(text, tree_.nodes, node, frames_);
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
  Weights weights_;
  Destination& out_;
};

// A run to be compared: with another weight than time and visits, that is in the place of its work.
profile::DiffRun weighted(const profile::CallTree& tree, Weight weight) {
  profile::DiffRun run{&tree};
  if (!path_value_of(weight)) return run;
  run.working.resize(tree.nodes.size());
  run.waiting.resize(tree.nodes.size());
  Weights weights(tree, weight);
  for (const profile::LocationProfile& location : tree.locations) {
    weights.for_each(location, [&](profile::NodeId node, std::uint64_t value) {
      run.working[node.value()] += static_cast<double>(value);
    });
  }
  return run;
}

double value_of(const profile::DiffSide& side, Weight weight) {
  if (path_value_of(weight)) return side.working;
  return weight == Weight::kVisits ? static_cast<double>(side.visits)
                                   : std::round(side.exclusive * 1e9);
}

// Call paths of both runs, over all threads together, because threads of two runs cannot be
// matched.
void write_difference(const profile::CallTree& tree, const Options& options, Destination& out) {
  const profile::DiffRun earlier = weighted(*options.before, options.weight);
  const profile::DiffRun later = weighted(tree, options.weight);
  const profile::Diff diff = profile::compare({&earlier, 1}, {&later, 1});
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
