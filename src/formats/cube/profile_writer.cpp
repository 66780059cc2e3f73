// A CallTree as a CUBE profile of the shape that Score-P gives its own.
#include <algorithm>
#include <cfloat>
#include <cstring>

#include "formats/cube/profile_file.hpp"
#include "formats/cube/profile_names.hpp"
#include "formats/cube/profile_system.hpp"
#include "formats/cube/sample_rows.hpp"

namespace timeloom::cube {

namespace {

using profile::CallTree;
using profile::Cell;
using profile::MetricStatistics;
using profile::NodeId;
using profile::Statistics;

// Regions that every profile of Score-P begins with.
constexpr std::uint32_t kProgramRegion = 2;
constexpr std::uint32_t kFirstRegion = 3;

// A mostly empty table of values, as a run of many short threads has it, is
// compressed when it has more values than this.
constexpr std::uint64_t kSmallTable = 1 << 17;

enum class Core : std::uint8_t { kVisits, kTime, kMin, kMax };
constexpr std::uint32_t kCoreMetrics = 4;

// What the values of a call path in the file are made of.
struct Origin {
  enum Kind : std::uint8_t { kProgram, kThreads, kProcessMetrics, kNode } kind;
  NodeId node;
  bool worker;  // below THREADS
};

// The name for programs, of which some take only letters, digits and a few signs.
std::string unique_name(const std::vector<Metric>& taken, const std::string& name) {
  std::string base = name.empty() ? "counter" : name;
  for (char& one : base) {
    const bool fine = (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
                      (one >= '0' && one <= '9') || one == '_' || one == ':' || one == '=';
    if (!fine) one = '_';
  }
  std::string unique = base;
  const auto is_taken = [&](const Metric& other) { return other.unique_name == unique; };
  for (int i = 2; std::ranges::any_of(taken, is_taken); ++i) {
    unique = base + "_" + std::to_string(i);
  }
  return unique;
}

class ProfileWriter {
 public:
  ProfileWriter(const CallTree& tree, const ProfileFacts& facts)
      : tree_(tree), all_(tree.definitions) {
    const std::vector<bool> first = add_system(tree, facts.parameters, cube_);
    first_.assign(first.begin(), first.end());
    index_cells();
    add_metrics();
    add_counters();
    add_regions();
    add_cnodes();
    index_counters();
    add_samples();
  }

  void write(const std::filesystem::path& file) const {
    std::vector<CnodeId> every(cube_.cnodes.size());
    for (std::uint32_t i = 0; i < every.size(); ++i) every[i] = CnodeId{i};
    std::vector<MetricRows> rows;
    for (const Core core : {Core::kTime, Core::kMax, Core::kMin, Core::kVisits}) {
      rows.push_back({CubeMetricId{static_cast<std::uint32_t>(core)}, every,
                      [this, core](CnodeId cnode, std::span<std::byte> row) {
                        fill(core, origins_[cnode.value()], row);
                      }});
    }
    for (const auto& [metric, samples] : samples_) {
      const ValueType type = cube_.metrics[metric.value()].type;
      rows.push_back(
          {metric, samples.cnodes(), [&samples, type](CnodeId cnode, std::span<std::byte> row) {
             samples.fill(type, cnode, row);
           }});
    }
    for (std::uint32_t i = 0; i < counters_.size(); ++i) {
      if (all_.metrics[i].sampled()) continue;
      rows.push_back({CubeMetricId{kCoreMetrics + i}, counters_[i].cnodes,
                      [this, i](CnodeId cnode, std::span<std::byte> row) {
                        fill_counter(i, origins_[cnode.value()], row);
                      }});
    }
    const std::uint64_t values = every.size() * cube_.locations.size();
    WriteOptions options;
    options.compress = values > kSmallTable && values / 4 > entries_.size();
    cube::write(cube_, rows, file, options);
  }

 private:
  struct Entry {  // a cell of a node
    std::uint32_t location;
    std::uint32_t cell;
  };
  struct Counter {
    struct Value {
      NodeId node;
      std::uint32_t location;
      const MetricStatistics* statistics;
    };
    std::vector<Value> values;    // in order of nodes
    std::vector<CnodeId> cnodes;  // that have some
  };

  void add_metrics() {
    const auto add = [this](const char* name, const char* unique, DataType type, const char* unit,
                            MetricKind kind, const char* description) {
      Metric metric;
      metric.name = name;
      metric.unique_name = unique;
      metric.type = {type, 1};
      metric.kind = kind;
      metric.unit = unit;
      metric.description = description;
      cube_.metrics.push_back(std::move(metric));
    };
    using enum MetricKind;
    add("Visits", kVisits, DataType::kUint64, "occ", kExclusive, "How often it was entered");
    add("Time", kTime, DataType::kDouble, "sec", kInclusive, "Time between enter and leave");
    add("Minimum Inclusive Time", kMinTime, DataType::kMinDouble, "sec", kExclusive,
        "The shortest visit");
    add("Maximum Inclusive Time", kMaxTime, DataType::kMaxDouble, "sec", kExclusive,
        "The longest visit");
  }

  // Each value that a counter had is one of a tuple: its sum alone would mean
  // nothing for many of them.
  void add_counters() {
    counters_.resize(all_.metrics.size());
    for (const timeloom::Metric& from : all_.metrics) {
      Metric metric;
      metric.name = from.name;
      metric.unique_name = unique_name(cube_.metrics, from.name);
      metric.type = {DataType::kTauAtomic, 1};
      metric.kind = MetricKind::kExclusive;
      metric.unit = from.unit;
      metric.description = from.description;
      if (from.sampled()) {
        metric.type = {from.counts() ? DataType::kUint64 : DataType::kMaxDouble, 1};
        metric.kind = from.counts() ? MetricKind::kInclusive : MetricKind::kExclusive;
        metric.attributes.push_back({kSet, from.set});
      }
      cube_.metrics.push_back(std::move(metric));
    }
  }

  void index_counters() {
    for (std::uint32_t i = 0; i < tree_.locations.size(); ++i) {
      for (const profile::MetricCell& one : tree_.locations[i].metrics) {
        counters_[one.metric.value()].values.push_back({one.node, i, &one.statistics});
      }
    }
    for (Counter& counter : counters_) {
      std::ranges::stable_sort(counter.values, {}, &Counter::Value::node);
      if (counter.values.empty()) continue;
      for (std::uint32_t i = 0; i < origins_.size(); ++i) {
        const auto values = values_of(counter, origins_[i]);
        const bool any = std::ranges::any_of(values, [&](const Counter::Value& one) {
          return first_[one.location] != origins_[i].worker;
        });
        if (any) counter.cnodes.emplace_back(i);
      }
    }
  }

  // In which call paths of the file those of a location are.
  void add_samples() {
    std::vector<CnodeId> of_first(tree_.nodes.size()), of_workers(tree_.nodes.size());
    CnodeId threads{0}, process{0};
    for (std::uint32_t i = 0; i < origins_.size(); ++i) {
      const Origin& origin = origins_[i];
      if (origin.kind == Origin::kThreads) threads = CnodeId{i};
      if (origin.kind == Origin::kProcessMetrics) process = CnodeId{i};
      if (origin.kind != Origin::kNode) continue;
      (origin.worker ? of_workers : of_first)[origin.node.value()] = CnodeId{i};
    }
    std::vector<PathsOfLocation> paths;
    for (std::size_t i = 0; i < all_.locations.size(); ++i) {
      const bool metrics = all_.locations[i].type == LocationType::kMetric;
      const CnodeId top = metrics ? process : first_[i] != 0 ? CnodeId{0} : threads;
      paths.push_back({first_[i] != 0 ? &of_first : &of_workers, top});
    }
    for (std::uint32_t i = 0; i < all_.metrics.size(); ++i) {
      if (!all_.metrics[i].sampled()) continue;
      samples_.emplace_back(CubeMetricId{kCoreMetrics + i},
                            SampleRows(tree_, MetricId{i}, cube_, paths));
    }
  }

  static std::span<const Counter::Value> values_of(const Counter& counter, const Origin& origin) {
    if (origin.kind != Origin::kNode) return {};
    return std::ranges::equal_range(counter.values, origin.node, {}, &Counter::Value::node);
  }

  void fill_counter(std::uint32_t index, const Origin& origin, std::span<std::byte> row) const {
    const ValueType type = cube_.metrics[kCoreMetrics + index].type;
    fill_neutral(type, row);
    for (const Counter::Value& one : values_of(counters_[index], origin)) {
      if (first_[one.location] == origin.worker) continue;
      const MetricStatistics& from = *one.statistics;
      const auto count =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(from.count, UINT32_MAX));
      std::byte* to = row.data() + one.location * type.size();
      std::memcpy(to, &count, sizeof count);
      const double values[] = {from.min, from.max, from.sum, from.squares};
      std::memcpy(to + sizeof count, values, sizeof values);
    }
  }

  std::uint32_t add_region(std::string name, std::string paradigm, std::string role) {
    Region region;
    region.mangled_name = name;
    region.name = std::move(name);
    region.paradigm = std::move(paradigm);
    region.role = std::move(role);
    cube_.regions.push_back(std::move(region));
    return static_cast<std::uint32_t>(cube_.regions.size() - 1);
  }

  void add_regions() {
    add_region(kOffName, "user", kArtificialRole);
    add_region(kFlushName, kMeasurementParadigm, kArtificialRole);
    add_program();
    for (const timeloom::Region& from : all_.regions) {
      std::string paradigm(name_in(kParadigms, from.paradigm));
      if (!from.group.empty() && from.group != from.file) paradigm += ":" + from.group;
      add_region(from.name, std::move(paradigm), std::string(name_in(kRoles, from.role)));
      Region& region = cube_.regions.back();
      region.mangled_name = from.canonical_name;
      region.file = from.file;
      if (from.first_line != 0) region.begin = from.first_line;
      if (from.last_line != 0) region.end = from.last_line;
    }
  }

  void add_program() {
    static const LocationGroup kUnknown;
    const LocationGroup& first = all_.groups.empty() ? kUnknown : all_.groups.front();
    const std::string name = first.executable.substr(first.executable.rfind('/') + 1);
    add_region(name.empty() ? "program" : name, kMeasurementParadigm, kArtificialRole);
    Region& region = cube_.regions.back();
    if (!first.executable.empty()) region.mangled_name = first.executable;
    for (const std::string& argument : first.arguments) region.mangled_name += " " + argument;
    region.attributes.push_back({kArguments, std::to_string(first.arguments.size())});
  }

  // Which locations visited a node, and where their cells are.
  void index_cells() {
    const std::size_t nodes = tree_.nodes.size();
    begins_.assign(nodes + 1, 0);
    below_program_.assign(nodes, 0);
    below_threads_.assign(nodes, 0);
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) count_cells(i);
    for (std::size_t i = 0; i < nodes; ++i) begins_[i + 1] += begins_[i];
    entries_.resize(begins_[nodes]);
    sort_entries();
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) {
      auto& visited = first_[i] ? below_program_ : below_threads_;
      for (const profile::SampleCell& one : tree_.locations[i].samples) {
        if (one.node.defined()) visited[one.node.value()] = 1;
      }
    }
    for (std::size_t i = nodes; i-- > 0;) {  // who visited a node has visited its parent
      const NodeId parent = tree_.nodes[i].parent;
      if (!parent.defined()) continue;
      if (below_program_[i]) below_program_[parent.value()] = 1;
      if (below_threads_[i]) below_threads_[parent.value()] = 1;
    }
  }

  // And the time of the program itself: for the first thread of a process from its
  // first to its last event, for others what they spent in regions.
  void count_cells(std::size_t index) {
    const auto& location = tree_.locations[index];
    std::uint64_t sum = 0;
    for (const Cell& cell : location.cells) {
      const std::uint32_t node = cell.node.value();
      ++begins_[node + 1];
      if (!tree_.nodes[node].parent.defined()) sum += cell.statistics.inclusive;
    }
    const std::uint64_t life = ticks(location.last) - ticks(location.first);
    root_time_.push_back(first_[index] ? std::max(sum, life) : sum);
  }

  // Some thousand nodes at a time, whose entries stay in the cache while one
  // location after the other adds its own.
  void sort_entries() {
    constexpr std::size_t kAtATime = 4096;
    std::vector<std::uint64_t> next(begins_.begin(), begins_.end() - 1);
    std::vector<std::uint32_t> done(tree_.locations.size());
    for (std::size_t end = kAtATime; end < tree_.nodes.size() + kAtATime; end += kAtATime) {
      for (std::uint32_t i = 0; i < tree_.locations.size(); ++i) {
        const auto& cells = tree_.locations[i].cells;
        auto& visited = first_[i] ? below_program_ : below_threads_;
        for (; done[i] < cells.size() && cells[done[i]].node.value() < end; ++done[i]) {
          const std::uint32_t node = cells[done[i]].node.value();
          entries_[next[node]++] = {i, done[i]};
          visited[node] = 1;
        }
      }
    }
  }

  void add_cnodes() {
    const auto count = static_cast<std::size_t>(std::ranges::count(below_program_, 1) +
                                                std::ranges::count(below_threads_, 1)) +
                       2;
    cube_.cnodes.reserve(count);
    origins_.reserve(count);
    cube_.cnodes.push_back({{}, CubeRegionId{kProgramRegion}, {}});
    origins_.push_back({Origin::kProgram, {}, false});
    add_nodes(below_program_, CnodeId{0}, false);
    add_process_metrics();
    if (std::ranges::find(below_threads_, 1) == below_threads_.end()) return;
    const CnodeId threads{static_cast<std::uint32_t>(cube_.cnodes.size())};
    const CubeRegionId region{add_region(kThreadsName, "pthread", kArtificialRole)};
    cube_.cnodes.push_back({CnodeId{0}, region, {}});
    origins_.push_back({Origin::kThreads, {}, true});
    add_nodes(below_threads_, threads, true);
  }

  void add_process_metrics() {
    bool any = false;
    for (std::size_t i = 0; i < all_.locations.size(); ++i) {
      any = any || (all_.locations[i].type == LocationType::kMetric &&
                    !tree_.locations[i].samples.empty());
    }
    if (!any) return;
    const CubeRegionId region{
        add_region(kProcessMetricsName, kMeasurementParadigm, kArtificialRole)};
    cube_.cnodes.push_back({CnodeId{0}, region, {}});
    origins_.push_back({Origin::kProcessMetrics, {}, true});
  }

  void add_nodes(const std::vector<char>& wanted, CnodeId top, bool worker) {
    std::vector<CnodeId> cnodes(tree_.nodes.size());
    for (std::uint32_t i = 0; i < tree_.nodes.size(); ++i) {
      if (!wanted[i]) continue;
      const profile::Node& node = tree_.nodes[i];
      cnodes[i] = CnodeId{static_cast<std::uint32_t>(cube_.cnodes.size())};
      const CnodeId parent = node.parent.defined() ? cnodes[node.parent.value()] : top;
      cube_.cnodes.push_back({parent, region_of(node), parameters_of(node)});
      origins_.push_back({Origin::kNode, NodeId{i}, worker});
    }
  }

  std::vector<CnodeParameter> parameters_of(const profile::Node& node) const {
    std::vector<CnodeParameter> result;
    if (!node.parameters.defined()) return result;
    for (const profile::ParameterValue& one : tree_.parameter_sets[node.parameters.value()]) {
      result.push_back({one.numeric, one.name, one.text});
    }
    return result;
  }

  CubeRegionId region_of(const profile::Node& node) {
    if (node.region.defined()) return CubeRegionId{node.region.value() + kFirstRegion};
    if (!collapsed_.defined()) {
      collapsed_ = CubeRegionId{add_region(kCollapsedName, "user", "unknown")};
    }
    return collapsed_;
  }

  double seconds(std::uint64_t time) const {
    return static_cast<double>(time) / static_cast<double>(all_.clock.ticks_per_second);
  }

  void put(Core core, const Statistics& one, std::uint32_t location,
           std::span<std::byte> row) const {
    std::byte* to = row.data() + std::size_t{location} * 8;
    if (core == Core::kVisits) {
      std::memcpy(to, &one.visits, 8);
      return;
    }
    double value = seconds(one.inclusive);
    if (core == Core::kMin) value = one.min == UINT64_MAX ? DBL_MAX : seconds(one.min);
    if (core == Core::kMax) value = one.visits == 0 ? -DBL_MAX : seconds(one.max);
    std::memcpy(to, &value, 8);
  }

  void fill(Core core, const Origin& origin, std::span<std::byte> row) const {
    fill_neutral(cube_.metrics[static_cast<std::size_t>(core)].type, row);
    if (origin.kind == Origin::kNode) return fill_node(core, origin, row);
    if (origin.kind == Origin::kProcessMetrics) return;
    for (std::uint32_t i = 0; i < root_time_.size(); ++i) {
      const bool visited = origin.kind == Origin::kProgram && first_[i] != 0;
      if (origin.kind == Origin::kThreads && first_[i] != 0) continue;
      Statistics one;
      if (visited) one.add_visit(root_time_[i]);
      one.inclusive = root_time_[i];
      put(core, one, i, row);
    }
  }

  void fill_node(Core core, const Origin& origin, std::span<std::byte> row) const {
    const std::uint32_t node = origin.node.value();
    for (std::uint64_t i = begins_[node]; i < begins_[node + 1]; ++i) {
      const Entry& entry = entries_[i];
      // The cells of a row lie as far apart as can be; they are as many waits for memory
      // unless it is asked for them some time before.
      if (i + kAhead < entries_.size()) __builtin_prefetch(&cell_of(entries_[i + kAhead]));
      if ((first_[entry.location] != 0) == origin.worker) continue;
      put(core, cell_of(entry).statistics, entry.location, row);
    }
  }

  const Cell& cell_of(const Entry& entry) const {
    return tree_.locations[entry.location].cells[entry.cell];
  }

  static constexpr std::uint64_t kAhead = 48;

  const CallTree& tree_;
  const Definitions& all_;
  Cube cube_;
  // Not of bools, which are asked and set millions of times and would share their bytes.
  std::vector<char> first_;            // of locations: the first of its process
  std::vector<std::uint64_t> begins_;  // of nodes: their first entry
  std::vector<Entry> entries_;
  std::vector<char> below_program_;  // of nodes
  std::vector<char> below_threads_;
  std::vector<std::uint64_t> root_time_;  // of locations
  std::vector<Origin> origins_;           // of cnodes
  std::vector<Counter> counters_;         // of metrics of the run
  std::vector<std::pair<CubeMetricId, SampleRows>> samples_;
  CubeRegionId collapsed_;
};

}  // namespace

bool save(const CallTree& tree, const std::filesystem::path& file, const ProfileFacts& facts) {
  if (tree.definitions.locations.empty()) return false;
  ProfileWriter(tree, facts).write(file);
  return true;
}

}  // namespace timeloom::cube
