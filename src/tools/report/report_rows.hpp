// The rows of a report: the call paths and regions shown, their order, and the number of
// hidden ones.
//
// Plain values made from a CallTree, which must outlive the ReportData. Used by
// one thread. Throws only std::bad_alloc, unless noted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measuring_cost.hpp"
#include "core/throttled.hpp"
#include "profile/call_tree.hpp"
#include "profile/flat_profile.hpp"
#include "tools/report/estimates/estimates.hpp"
#include "tools/report/report_metric.hpp"
#include "tools/report/work_times.hpp"

namespace timeloom::tools {

enum class SortKey { kInclusive, kExclusive, kVisits, kMean, kName };

struct RowOptions {
  std::optional<SortKey> sort;  // default: the tree by inclusive, the flat table by exclusive time
  double min_percent = 0;       // of the total, by the time the table is sorted by (see below)
  std::uint32_t depth = UINT32_MAX;  // levels of the tree
};

// Times in seconds; shares of the time of all roots, 0 to 1. Unknown values are NaN.
struct Figures {
  std::int64_t visits = 0;
  bool at_least = false;  // as many visits: the function was not timed to the end
  // The estimated parts of the own time and of the inclusive time; none if it was measured.
  Estimate own_estimate, total_estimate;
  bool truncated = false;  // some visits have only a part of their time (core/throttled.hpp)
  double inclusive = 0;
  double exclusive = 0;
  // Own time: the exclusive time with its unmeasured part, which tables have as a region below.
  double working = 0;
  double waiting = 0;
  double unmeasured = 0;
  // Less what measuring cost; without ReportData::compensate() as above.
  double compensated_inclusive = 0;
  double compensated_exclusive = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
  double inclusive_share = 0;
  double exclusive_share = 0;
};

struct Row {
  RegionId region;  // undefined: call paths beyond the limit of a thread
  profile::ParameterSetId parameters;
  Figures figures;
  // In the tree only.
  profile::NodeId node;
  profile::NodeId parent;
  std::uint32_t depth = 0;
  bool only_child = false;  // among the rows shown
  bool last_child = false;
  // With ReportData::metric().
  MetricFigures metric;
};

struct Hidden {
  std::uint64_t small = 0;   // rows below min_percent
  std::uint64_t deep = 0;    // rows below the deepest level shown
  double small_seconds = 0;  // exclusive time of the small ones
};

struct Rows {
  std::vector<Row> rows;
  Hidden hidden;
};

class ReportData {
 public:
  ReportData(const profile::CallTree& tree, const profile::LocationFilter& filter);

  // Rows have its figures from here on. Throws Error when there is none of that name.
  void add_metric(const std::string& name, const profile::LocationFilter& filter) {
    metric_.emplace(*tree_, name, filter);
  }
  // Shares are of the time of those locations.
  void take_shares_of(const ReportData& all) noexcept { total_ = all.total_; }
  // Takes what measuring cost from the times, by which rows are sorted from here on.
  void compensate(const CallCost& cost);
  const std::optional<CallCost>& cost() const noexcept { return cost_; }
  const MetricColumns* metric() const noexcept { return metric_ ? &*metric_ : nullptr; }

  // The call paths, each followed by those below it. Rows are small by inclusive time.
  Rows tree_rows(const RowOptions& options) const;
  // The regions. Rows are small by exclusive time, or by inclusive time if sorted by it.
  Rows flat_rows(const RowOptions& options) const;

  const Estimates& estimates() const noexcept { return estimates_; }
  double total_seconds() const { return to_seconds(total_); }
  const Definitions& definitions() const { return tree_->definitions; }
  // A name for people: never empty.
  std::string region_name(RegionId region) const;
  // The same with the values that tell the call path apart: f {n=2}.
  std::string row_name(const Row& row) const;
  // Empty for none.
  const profile::ParameterSet& parameters(const Row& row) const;
  const Region& region(RegionId region) const;

 private:
  double to_seconds(std::uint64_t ticks) const;
  double share(double part) const;
  Figures figures_of(RegionId region, const profile::Totals& totals,
                     const profile::Totals& compensated, std::uint64_t visit_time) const;
  void add_estimates(RegionId region, Figures& figures) const;
  void sort(std::vector<Row>& rows, SortKey key) const;
  Row tree_row(std::uint32_t node) const;
  std::vector<Figures> own_times_of_regions() const;

  const profile::CallTree* tree_;
  ThrottledFunctions throttled_;
  std::vector<profile::Totals> totals_;       // by node, of the locations that were taken
  std::vector<profile::Totals> compensated_;  // with cost_: the same less it
  Estimates estimates_;                       // of the same locations
  WorkTimes times_;                           // of the same locations
  std::optional<CallCost> cost_;
  std::uint64_t total_;
  std::optional<MetricColumns> metric_;
};

}  // namespace timeloom::tools
