// Reads any CUBE profile as a CallTree.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <thread>
#include <type_traits>

#include "core/error.hpp"
#include "core/memory/memory_facts.hpp"
#include "core/parallel.hpp"
#include "core/samples/sampled_time.hpp"
#include "formats/cube/cube_profile.hpp"
#include "formats/cube/profile_names.hpp"
#include "formats/cube/read/profile_paths.hpp"
#include "formats/cube/value_table.hpp"
#include "profile/tree_merge.hpp"

namespace timeloom::cube {

namespace {

using profile::CallTree;
using profile::Cell;
using profile::LocationProfile;
using profile::NodeId;

class ProfileReader {
 public:
  ProfileReader(const Reader& reader, unsigned threads)
      : reader_(reader), cube_(reader.cube()), threads_(threads), paths_(cube_) {
    tree_.definitions = definitions_of(reader);
    ticks_per_second_ = static_cast<double>(tree_.definitions.clock.ticks_per_second);
    paths_.finish(tree_);
    tree_.locations.resize(cube_.locations.size());
    sort_cnodes();
  }

  CallTree read() {
    const CubeMetricId visits = needed(kVisits);
    read_core(visits, needed(kTime));
    if (!is_difference()) {
      for_each_in_parallel(tree_.locations.size(), threads_,
                           [&](std::size_t i) { make_consistent(tree_.locations[i]); });
    }
    for (std::uint32_t i = 0; i < tree_.locations.size(); ++i) read_life(i);
    read_counters();
    return std::move(tree_);
  }

 private:
  CubeMetricId needed(const char* name) const {
    const CubeMetricId metric = find_metric(cube_, name);
    if (metric.defined() && reader_.has_values(metric)) return metric;
    throw Error(std::string("this CUBE file is not a call-path profile: it has no values of the ") +
                "metric '" + name + "' [TL314]");
  }

  void read_core(CubeMetricId visits_id, CubeMetricId time) {
    const ValueTable visits(reader_, visits_id, MetricKind::kExclusive);
    read_visits(visits);
    read_times(time);
    if (is_difference()) return;  // shortest visits cannot be subtracted
    read_extremes(kMinTime, true, visits);
    read_extremes(kMaxTime, false, visits);
  }

  // True for a difference of two profiles, as CUBE's tools write it: some values are negative.
  bool is_difference() const {
    const auto is_negative = [](const Cell& cell) {
      return profile::signed_value(cell.statistics.visits) < 0 ||
             profile::signed_value(cell.statistics.inclusive) < 0;
    };
    return std::ranges::any_of(tree_.locations, [&](const LocationProfile& location) {
      return std::ranges::any_of(location.cells, is_negative);
    });
  }

  // Sorts by node, so that one pass fills the cells of all locations.
  void sort_cnodes() {
    const std::vector<std::uint32_t>& nodes = paths_.nodes();
    for (std::uint32_t i = 0; i < cube_.cnodes.size(); ++i) {
      if (nodes[i] != CallPaths::kNone) order_.emplace_back(i);
    }
    std::ranges::stable_sort(order_, {}, [&](CnodeId one) { return nodes[one.value()]; });
  }

  NodeId node_of(CnodeId cnode) const { return NodeId{paths_.nodes()[cnode.value()]}; }

  // Makes a cell for each node that has visits or time on a location.
  void read_visits(const ValueTable& visits) {
    std::vector<std::size_t> visited(tree_.locations.size());
    const auto each_visit = [&](const auto& take) {
      each_value<std::uint64_t>(visits, [&](CnodeId cnode, std::uint32_t i, std::uint64_t count) {
        if (count != 0) take(node_of(cnode), i, count);
      });
    };
    each_visit([&](NodeId, std::uint32_t i, std::uint64_t) { ++visited[i]; });
    for (std::size_t i = 0; i < visited.size(); ++i) tree_.locations[i].cells.reserve(visited[i]);
    each_visit([&](NodeId node, std::uint32_t i, std::uint64_t count) {
      cell(i, node).statistics.visits += count;
    });
  }

  // Calls `take(cnode, location, value)` for the values of call paths that were not lifted; with
  // `visits`, only where there are visits. Handles some locations at a time: with more rows of
  // cells than a cache set has ways, each access would go to memory. One thread takes the rows of a
  // location, in order.
  template <typename Number, typename Take>
  void each_value(const ValueTable& table, const Take& take,
                  const ValueTable* visits = nullptr) const {
    constexpr std::uint32_t kTogether = 8;
    const auto locations = static_cast<std::uint32_t>(tree_.locations.size());
    const std::uint32_t groups = (locations + kTogether - 1) / kTogether;
    for_each_in_parallel(groups, threads_, [&](std::size_t group) {
      const auto first = static_cast<std::uint32_t>(group) * kTogether;
      std::array<Number, kTogether> buffer;
      std::array<std::uint64_t, kTogether> visited{};
      const auto values = std::span(buffer).first(std::min(kTogether, locations - first));
      for (const CnodeId cnode : order_) {
        if (paths_.fate(cnode) == Fate::kLifted || table.empty_row(cnode)) continue;
        if constexpr (std::is_same_v<Number, double>) {
          table.get(cnode, first, values);
        } else if (!table.get(cnode, first, values)) {
          bad(kVisits);
        }
        if (visits != nullptr)
          static_cast<void>(visits->get(cnode, first, std::span(visited).first(values.size())));
        for (std::uint32_t i = 0; i < values.size(); ++i) {
          if (visits == nullptr || visited[i] != 0) take(cnode, first + i, values[i]);
        }
      }
    });
  }

  void read_times(CubeMetricId metric) {
    const ValueTable times(reader_, metric, MetricKind::kInclusive);
    std::vector<std::vector<Cell>> unvisited(tree_.locations.size());
    std::vector<std::size_t> next(tree_.locations.size());
    each_value<double>(times, [&](CnodeId cnode, std::uint32_t i, double seconds) {
      if (paths_.fate(cnode) != Fate::kKept) return;
      const std::uint64_t time = to_ticks(seconds, kTime);
      if (time == 0) return;
      const NodeId node = node_of(cnode);
      Cell* found = find(i, node, next[i]);
      if (found == nullptr) found = &unvisited[i].emplace_back(Cell{node, {}});
      found->statistics.inclusive += time;
    });
    for (std::size_t i = 0; i < unvisited.size(); ++i) {
      add_cells(tree_.locations[i].cells, unvisited[i]);
    }
    add_length(times);
  }

  // The shortest or longest visit, for call paths that the location has visited. For others a file
  // may contain a value, or 0.
  void read_extremes(const char* name, bool least, const ValueTable& visits) {
    const CubeMetricId metric = find_metric(cube_, name);
    if (!metric.defined() || !reader_.has_values(metric)) return;
    const ValueTable times(reader_, metric, cube_.metrics[metric.value()].kind);
    std::vector<std::size_t> next(tree_.locations.size());
    const auto take = [&](CnodeId cnode, std::uint32_t i, double time) {
      if (std::abs(time) >= kNoTime) return;
      Cell* found = find(i, node_of(cnode), next[i]);
      if (found == nullptr) return;
      const std::uint64_t value = to_ticks(time, name);
      auto& statistics = found->statistics;
      if (least) {
        statistics.min = std::min(statistics.min, value);
      } else {
        statistics.max = std::max(statistics.max, value);
      }
    };
    each_value<double>(times, take, &visits);
  }

  // Only Timeloom's own kind of metrics: the meaning of other metrics' values is not known.
  void read_counters() {
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < cube_.metrics.size(); ++i) {
      if (is_core_name(cube_.metrics[i].unique_name)) continue;
      const MetricId metric{next++};
      if (!reader_.has_values(CubeMetricId{i})) continue;
      if (tree_.definitions.metrics[metric.value()].sampled()) {
        read_samples(CubeMetricId{i}, metric);
      } else if (cube_.metrics[i].type.type == DataType::kTauAtomic) {
        read_counter(CubeMetricId{i}, metric);
      } else if (is_seconds_of_samples(cube_.metrics[i])) {
        read_sampled_time(CubeMetricId{i}, metric);
      } else if (is_summed_name(cube_.metrics[i].name) || cube_.metrics[i].name == kMaximumHeap) {
        read_sum(CubeMetricId{i}, metric);
      }
    }
    for (LocationProfile& location : tree_.locations) {
      profile::join_samples(location.samples, tree_.definitions.metrics);
    }
  }

  // A node that is not a region of the program gives its part to the call path above it.
  void read_samples(CubeMetricId id, MetricId metric) {
    const ValueTable values(reader_, id, MetricKind::kExclusive);
    std::vector<double> row(tree_.locations.size());
    for (std::uint32_t i = 0; i < cube_.cnodes.size(); ++i) {
      if (values.empty_row(CnodeId{i})) continue;
      values.get(CnodeId{i}, 0, row);
      for (std::uint32_t j = 0; j < row.size(); ++j) {
        // The maximum of no values is also below 1.
        if (!(row[j] >= 1 && row[j] < 0x1p63)) continue;
        tree_.locations[j].samples.push_back(
            {metric, node_of(CnodeId{i}), static_cast<std::uint64_t>(row[j])});
      }
    }
  }

  void read_counter(CubeMetricId id, MetricId metric) {
    const Values values = reader_.values(id);
    for (const CnodeId cnode : order_) {
      if (paths_.fate(cnode) == Fate::kLifted || !values.has_row(cnode)) continue;
      for (std::uint32_t i = 0; i < tree_.locations.size(); ++i) {
        const auto value = statistics_at(values, cnode, i);
        if (value.count != 0) add_value(i, metric, node_of(cnode), value);
      }
    }
    for (std::uint32_t i = 0; i < tree_.locations.size(); ++i) {
      if (tree_.definitions.locations[i].type == LocationType::kMetric) {
        read_outside(values, metric, i);
      }
    }
  }

  // Locations for metrics are in no region of the program.
  void read_outside(const Values& values, MetricId metric, std::uint32_t location) {
    profile::MetricStatistics sum;
    for (std::uint32_t i = 0; i < cube_.cnodes.size(); ++i) {
      const bool outside = paths_.fate(CnodeId{i}) == Fate::kLifted;
      if (outside && values.has_row(CnodeId{i})) {
        sum.add(statistics_at(values, CnodeId{i}, location));
      }
    }
    if (sum.count != 0) tree_.locations[location].outside.push_back({metric, sum});
  }

  static profile::MetricStatistics statistics_at(const Values& values, CnodeId cnode,
                                                 std::uint32_t location) {
    const std::byte* from = values.at(cnode, CubeLocationId{location});
    std::uint32_t count = 0;
    double numbers[4];
    std::memcpy(&count, from, sizeof count);
    std::memcpy(numbers, from + sizeof count, sizeof numbers);
    return {count, numbers[2], numbers[0], numbers[1], numbers[3]};
  }

  // Reads sums and a maximum, since each is a single value.
  void read_sum(CubeMetricId id, MetricId metric) {
    const ValueTable values(reader_, id, MetricKind::kExclusive);
    std::vector<double> row(tree_.locations.size());
    for (const CnodeId cnode : order_) {
      if (paths_.fate(cnode) == Fate::kLifted || values.empty_row(cnode)) continue;
      values.get(cnode, 0, row);
      for (std::uint32_t i = 0; i < row.size(); ++i) {
        if (row[i] > 0) add_value(i, metric, node_of(cnode), {1, row[i], row[i], row[i], 0});
      }
    }
  }

  // In nanoseconds. Where calls are made of samples, the visits are their number.
  void read_sampled_time(CubeMetricId id, MetricId metric) {
    read_sum(id, metric);
    const bool has_count = has_sampled_calls(tree_.definitions);
    for (std::uint32_t i = 0; i < tree_.locations.size(); ++i) {
      std::size_t next = 0;
      for (profile::MetricCell& one : tree_.locations[i].metrics) {
        if (one.metric != metric) continue;
        const double sum = std::round(one.statistics.sum * 1e9);
        one.statistics = {one.statistics.count, sum, sum, sum, 0};
        const Cell* const visits = has_count ? find(i, one.node, next) : nullptr;
        if (visits != nullptr) add_extremes(one.statistics, visits->statistics);
      }
    }
  }

  void add_extremes(profile::MetricStatistics& samples, const profile::Statistics& visits) const {
    const double ns = 1e9 / static_cast<double>(tree_.definitions.clock.ticks_per_second);
    samples.count = visits.visits;
    samples.min = static_cast<double>(visits.min) * ns;
    samples.max = static_cast<double>(visits.max) * ns;
  }

  // REQUIRES: the nodes of a metric come in ascending order.
  void add_value(std::uint32_t location, MetricId metric, NodeId node,
                 const profile::MetricStatistics& value) {
    std::vector<profile::MetricCell>& cells = tree_.locations[location].metrics;
    if (cells.empty() || cells.back().metric != metric || cells.back().node != node) {
      cells.push_back({metric, node, {}});
    }
    cells.back().statistics.add(value);
  }

  Cell& cell(std::uint32_t location, NodeId node) {
    std::vector<Cell>& cells = tree_.locations[location].cells;
    if (cells.empty() || cells.back().node != node) cells.push_back({node, {}});
    return cells.back();
  }

  // REQUIRES: called with nodes in ascending order.
  Cell* find(std::uint32_t location, NodeId node, std::size_t& next) {
    std::vector<Cell>& cells = tree_.locations[location].cells;
    while (next < cells.size() && cells[next].node < node) ++next;
    return next < cells.size() && cells[next].node == node ? &cells[next] : nullptr;
  }

  static void add_cells(std::vector<Cell>& cells, std::vector<Cell>& others) {
    if (others.empty()) return;
    for (const Cell& one : others) {
      if (!cells.empty() && cells.back().node == one.node) {
        cells.back().statistics.inclusive += one.statistics.inclusive;
      } else {
        cells.push_back(one);
      }
    }
    std::ranges::stable_sort(cells, {}, &Cell::node);
    // Joins call paths of the file that became one node.
    std::size_t end = 0;
    for (std::size_t i = 1; i < cells.size(); ++i) {
      if (cells[i].node == cells[end].node) {
        cells[end].statistics.add(cells[i].statistics);
      } else {
        cells[++end] = cells[i];
      }
    }
    cells.resize(end + 1);
  }

  // Seconds are rounded. A call path must not be shorter than the call paths below it, or its
  // exclusive time would be negative. Nodes without a time get their children's.
  void make_consistent(LocationProfile& location) const {
    std::vector<std::uint64_t> below(tree_.nodes.size());  // of nodes: the time of their children
    std::vector<Cell> missing;
    auto one = location.cells.rbegin();
    for (auto i = static_cast<std::uint32_t>(below.size()); i-- > 0;) {
      std::uint64_t time = below[i];
      if (static_cast<double>(time) >= kMostTicks) bad(kTime);
      if (one != location.cells.rend() && one->node.value() == i) {
        time = one->statistics.inclusive = std::max(time, one->statistics.inclusive);
        ++one;
      } else if (time != 0) {
        missing.push_back({NodeId{i}, {}});
        missing.back().statistics.inclusive = time;
      }
      const NodeId parent = tree_.nodes[i].parent;
      if (parent.defined()) below[parent.value()] += time;
    }
    add_cells(location.cells, missing);
  }

  // If the length of the run is not recorded, it is the longest thread's.
  void add_length(const ValueTable& times) {
    ClockProperties& clock = tree_.definitions.clock;
    if (clock.length != 0) return;
    std::vector<std::uint64_t> sums(tree_.locations.size());
    std::vector<double> row(tree_.locations.size());
    for (std::uint32_t i = 0; i < cube_.cnodes.size(); ++i) {
      if (cube_.cnodes[i].parent.defined()) continue;
      times.get(CnodeId{i}, 0, row);
      for (std::uint32_t j = 0; j < row.size(); ++j) sums[j] += to_ticks(row[j], kTime);
    }
    for (const std::uint64_t sum : sums) {
      if (profile::signed_value(sum) > 0) clock.length = std::max(clock.length, sum);
    }
  }

  void read_life(std::uint32_t index) {
    const Attributes& attributes = cube_.locations[index].attributes;
    const auto time = [&](const char* key) {
      std::uint64_t value = 0;
      const std::string* text = find_attribute(attributes, key);
      if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), value);
      return Timestamp{value};
    };
    tree_.locations[index].first = time(kFirst);
    tree_.locations[index].last = time(kLast);
  }

  [[noreturn]] static void bad(const char* metric) {
    throw Error(std::string("this CUBE file is damaged: it has a value of the metric '") + metric +
                "' that cannot be [TL313]");
  }

  std::uint64_t to_ticks(double seconds, const char* metric) const {
    const double ticks = seconds * ticks_per_second_;
    // A sum of doubles that should be 0 may be slightly below it.
    if (ticks < 0 && ticks > -1) return 0;
    const double size = std::abs(ticks);
    if (!(size < kMostTicks)) bad(metric);
    const auto whole = static_cast<std::uint64_t>(size);
    const std::uint64_t rounded = size - static_cast<double>(whole) >= 0.5 ? whole + 1 : whole;
    return ticks < 0 ? std::uint64_t{0} - rounded : rounded;
  }

  static constexpr double kMostTicks = 0x1p56;  // sums of many stay below 2^64
  static constexpr double kNoTime = 1e300;      // stands for "no visit"

  const Reader& reader_;
  const Cube& cube_;
  unsigned threads_;
  CallPaths paths_;
  CallTree tree_;
  double ticks_per_second_ = 1;
  std::vector<CnodeId> order_;
};

}  // namespace

CallTree load(const Reader& reader) {
  return ProfileReader(reader, std::thread::hardware_concurrency()).read();
}

CallTree load(const std::filesystem::path& file) { return load(Reader(file)); }

}  // namespace timeloom::cube
