// Writes a CallTree as a CUBE profile in the shape of Score-P's profiles.
#include <algorithm>
#include <cstring>

#include "core/memory/memory_facts.hpp"
#include "core/metric_unit.hpp"
#include "core/samples/sampled_time.hpp"
#include "formats/cube/cube_metric_rows.hpp"
#include "formats/cube/cube_profile.hpp"
#include "formats/cube/profile_names.hpp"
#include "formats/cube/profile_regions.hpp"
#include "formats/cube/profile_system.hpp"
#include "formats/cube/visit_index.hpp"

namespace timeloom::cube {

namespace {

using profile::CallTree;
using profile::NodeId;
using profile::Statistics;

// Regions at the start of every Score-P profile.
constexpr std::uint32_t kProgramRegion = 2;
constexpr std::uint32_t kFirstRegion = 3;

// A table of mostly empty values, as for many short threads or a counter, is compressed when it is
// larger than this.
constexpr std::uint64_t kSmallTable = 1 << 20;

// URLs of Score-P, where Cube finds the help pages of the metrics.
constexpr const char* kMirrors[] = {
    "https://perftools.pages.jsc.fz-juelich.de/cicd/scorep/tags/scorep-8.4/profile/",
    "https://perftools.pages.jsc.fz-juelich.de/cicd/scorep/tags/latest/profile/"};

enum class Core : std::uint8_t { kVisits, kTime, kMin, kMax };
constexpr std::uint32_t kCoreMetrics = 4;

// The parts that make up the values of a call path in the file.
struct Origin {
  enum Kind : std::uint8_t { kProgram, kThreads, kProcessMetrics, kNode } kind;
  NodeId node;
  bool worker;  // below THREADS
};

// The unique name, for programs; some accept only letters, digits and a few signs.
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
      : tree_(tree), all_(tree.definitions), visits_(tree, add_system(tree, facts, cube_)) {
    add_metrics();
    add_counters();
    add_regions();
    add_cnodes();
    find_paths();
    add_metric_rows();
  }

  void write(const std::filesystem::path& file) const {
    // Every metric has rows for all call paths, since some readers cannot handle a missing row.
    std::vector<CnodeId> every(cube_.cnodes.size());
    for (std::uint32_t i = 0; i < every.size(); ++i) every[i] = CnodeId{i};
    std::vector<MetricRows> all;
    for (const Core core : {Core::kTime, Core::kMax, Core::kMin, Core::kVisits}) {
      all.push_back({CubeMetricId{static_cast<std::uint32_t>(core)}, every,
                     [this, core](std::span<const CnodeId> cnodes, std::span<std::byte> rows) {
                       fill(core, cnodes, rows);
                     },
                     mostly_empty({DataType::kDouble, 1}, visits_.cells())});
    }
    for (const auto& [metric, values] : samples_) all.push_back(rows_of(metric, every, values));
    for (const auto& [metric, values] : counters_) all.push_back(rows_of(metric, every, values));
    cube::write(cube_, all, file);
  }

 private:
  // True if a table with this number of values other than 0 shall be compressed.
  bool mostly_empty(ValueType type, std::uint64_t filled) const {
    const std::uint64_t values = cube_.cnodes.size() * cube_.locations.size();
    return values * type.size() > kSmallTable && values / 4 > filled;
  }

  template <typename Rows>
  MetricRows rows_of(CubeMetricId metric, std::span<const CnodeId> every, const Rows& rows) const {
    const ValueType type = cube_.metrics[metric.value()].type;
    return {metric, every, row_by_row([&rows, type](CnodeId cnode, std::span<std::byte> row) {
              rows.fill(type, cnode, row);
            }),
            mostly_empty(type, rows.size())};
  }

  void add_metrics() {
    cube_.mirrors.assign(std::begin(kMirrors), std::end(kMirrors));
    const auto add = [this](const char* name, const char* unique, DataType type, const char* unit,
                            MetricKind kind, const char* page, const char* description) {
      Metric metric;
      metric.name = name;
      metric.unique_name = unique;
      metric.url = std::string("@mirror@scorep_metrics.html#") + page;
      metric.type = {type, 1};
      metric.kind = kind;
      metric.unit = unit;
      metric.description = description;
      cube_.metrics.push_back(std::move(metric));
    };
    using enum MetricKind;
    const bool sampled = has_sampled_calls(all_);
    add(sampled ? "Samples" : "Visits", kVisits, DataType::kUint64, "occ", kExclusive, "visits",
        sampled ? "Samples in which it was running itself" : "How often it was entered");
    add("Time", kTime, DataType::kDouble, "sec", kInclusive, "time",
        "Time between enter and leave");
    add("Minimum Inclusive Time", kMinTime, DataType::kMinDouble, "sec", kExclusive,
        "time_min_incl", "The shortest visit");
    add("Maximum Inclusive Time", kMaxTime, DataType::kMaxDouble, "sec", kExclusive,
        "time_max_incl", "The longest visit");
  }

  // Counters are written as tuples: for many of them the sum alone would mean nothing. Some readers
  // (Extra-P, hatchet) cannot read a profile with a tuple, so none is in profiles of programs
  // without counters of their own.
  void add_counters() {
    for (const timeloom::Metric& from : all_.metrics) {
      Metric metric;
      metric.name = from.name;
      metric.unique_name = unique_name(cube_.metrics, from.name);
      metric.type = {DataType::kTauAtomic, 1};
      metric.kind = MetricKind::kExclusive;
      metric.unit = value_unit(from);
      metric.description = from.description;
      if (from.sampled()) {
        metric.type = {from.counts() ? DataType::kUint64 : DataType::kMaxDouble, 1};
        metric.kind = from.counts() ? MetricKind::kInclusive : MetricKind::kExclusive;
        metric.attributes.push_back({kSet, from.set});
      } else if (is_summed_name(from.name)) {
        metric.type = {DataType::kUint64, 1};
      } else if (is_sampled_time(from)) {
        metric.type = {DataType::kDouble, 1};
        metric.unit = kSeconds;
      } else if (from.name == kMaximumHeap) {
        metric.type = {DataType::kMaxDouble, 1};
      }
      cube_.metrics.push_back(std::move(metric));
    }
  }

  // Finds the call paths of the file for each location.
  void find_paths() {
    of_first_.resize(tree_.nodes.size());
    of_others_.resize(tree_.nodes.size());
    CnodeId threads{0}, process{0};
    for (std::uint32_t i = 0; i < origins_.size(); ++i) {
      const Origin& origin = origins_[i];
      if (origin.kind == Origin::kThreads) threads = CnodeId{i};
      if (origin.kind == Origin::kProcessMetrics) process = CnodeId{i};
      if (origin.kind != Origin::kNode) continue;
      (origin.worker ? of_others_ : of_first_)[origin.node.value()] = CnodeId{i};
    }
    for (std::uint32_t i = 0; i < all_.locations.size(); ++i) {
      const bool metrics = all_.locations[i].type == LocationType::kMetric;
      const bool first = visits_.is_first(i);
      const CnodeId top = metrics ? process : first ? CnodeId{0} : threads;
      paths_.push_back({first ? &of_first_ : &of_others_, top});
    }
  }

  void add_metric_rows() {
    for (std::uint32_t i = 0; i < all_.metrics.size(); ++i) {
      const CubeMetricId metric{kCoreMetrics + i};
      if (all_.metrics[i].sampled()) {
        samples_.emplace_back(metric, SampleRows(tree_, MetricId{i}, cube_, paths_));
      } else {
        counters_.emplace_back(metric, CounterRows(tree_, MetricId{i}, paths_));
      }
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
      const bool usual = from.group == usual_group(from.paradigm, from.file);
      if (!from.group.empty() && !usual) paradigm += ":" + from.group;
      add_region(from.name, std::move(paradigm), std::string(name_in(kRoles, from.role)));
      Region& region = cube_.regions.back();
      region.mangled_name = from.canonical_name;
      region.file = from.file;
      if (from.first_line != 0) region.begin = from.first_line;
      if (from.last_line != 0) region.end = from.last_line;
      if (!is_of_program(region)) region.attributes.push_back({kOfProgram, "true"});
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

  void add_cnodes() {
    cube_.cnodes.push_back({{}, CubeRegionId{kProgramRegion}, {}});
    origins_.push_back({Origin::kProgram, {}, false});
    add_nodes(CnodeId{0}, false);
    add_process_metrics();
    const CnodeId threads{static_cast<std::uint32_t>(cube_.cnodes.size())};
    bool any = false;
    for (std::uint32_t i = 0; i < tree_.nodes.size() && !any; ++i) any = visits_.visited(i, false);
    if (!any) return;
    const CubeRegionId region{add_region(kThreadsName, "pthread", kArtificialRole)};
    cube_.cnodes.push_back({CnodeId{0}, region, {}});
    origins_.push_back({Origin::kThreads, {}, true});
    add_nodes(threads, true);
  }

  void add_process_metrics() {
    bool any = false;
    for (std::size_t i = 0; i < all_.locations.size(); ++i) {
      const profile::LocationProfile& values = tree_.locations[i];
      any = any || (all_.locations[i].type == LocationType::kMetric &&
                    !(values.samples.empty() && values.outside.empty()));
    }
    if (!any) return;
    const CubeRegionId region{
        add_region(kProcessMetricsName, kMeasurementParadigm, kArtificialRole)};
    cube_.cnodes.push_back({CnodeId{0}, region, {}});
    origins_.push_back({Origin::kProcessMetrics, {}, true});
  }

  void add_nodes(CnodeId top, bool worker) {
    std::vector<CnodeId> cnodes(tree_.nodes.size());
    for (std::uint32_t i = 0; i < tree_.nodes.size(); ++i) {
      if (!visits_.visited(i, !worker)) continue;
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

  void put(Core core, const Statistics& one, std::byte* to) const {
    if (core == Core::kVisits) {
      std::memcpy(to, &one.visits, 8);
      return;
    }
    double value = 0;
    if (core == Core::kTime) value = seconds(one.inclusive);
    if (core == Core::kMin && one.min != UINT64_MAX) value = seconds(one.min);
    if (core == Core::kMax) value = seconds(one.max);
    std::memcpy(to, &value, 8);
  }

  // One location after the other, because the cells of a location are contiguous.
  void fill(Core core, std::span<const CnodeId> cnodes, std::span<std::byte> rows) const {
    // 0 also for the shortest and longest visit where there was none: Score-P writes 0, and other
    // readers would take the largest double for a time.
    std::ranges::fill(rows, std::byte{0});
    const std::size_t row_size = cube_.locations.size() * 8;
    std::vector<VisitIndex::Wanted> of_first, of_others;
    for (std::uint32_t i = 0; i < cnodes.size(); ++i) {
      const Origin& origin = origins_[cnodes[i].value()];
      if (origin.kind == Origin::kNode) {
        (origin.worker ? of_others : of_first).push_back({origin.node, i});
      } else if (origin.kind != Origin::kProcessMetrics) {
        fill_whole(core, origin, rows.subspan(i * row_size, row_size));
      }
    }
    std::ranges::sort(of_first, {}, &VisitIndex::Wanted::node);
    std::ranges::sort(of_others, {}, &VisitIndex::Wanted::node);
    for (std::uint32_t i = 0; i < cube_.locations.size(); ++i) {
      std::byte* const column = rows.data() + std::size_t{i} * 8;
      visits_.each_cell(i, visits_.is_first(i) ? of_first : of_others,
                        [&](std::uint32_t row, const Statistics& statistics) {
                          put(core, statistics, column + row * row_size);
                        });
    }
  }

  // The program itself, or the node above its other threads.
  void fill_whole(Core core, const Origin& origin, std::span<std::byte> row) const {
    for (std::uint32_t i = 0; i < cube_.locations.size(); ++i) {
      const bool first = visits_.is_first(i);
      if (origin.kind == Origin::kThreads && first) continue;
      Statistics one;
      if (first) one.add_visit(visits_.whole_time(i));
      one.inclusive = visits_.whole_time(i);
      put(core, one, row.data() + std::size_t{i} * 8);
    }
  }

  const CallTree& tree_;
  const Definitions& all_;
  Cube cube_;
  VisitIndex visits_;
  std::vector<Origin> origins_;    // of cnodes
  std::vector<CnodeId> of_first_;  // by node: the call path for first locations
  std::vector<CnodeId> of_others_;
  std::vector<PathsOfLocation> paths_;  // of locations
  std::vector<std::pair<CubeMetricId, SampleRows>> samples_;
  std::vector<std::pair<CubeMetricId, CounterRows>> counters_;
  CubeRegionId collapsed_;
};

}  // namespace

bool save(const CallTree& tree, const std::filesystem::path& file, const ProfileFacts& facts) {
  if (tree.definitions.locations.empty()) return false;
  ProfileWriter(tree, facts).write(file);
  return true;
}

}  // namespace timeloom::cube
