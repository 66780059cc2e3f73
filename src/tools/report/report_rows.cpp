#include "tools/report/report_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/samples/sampled_time.hpp"
#include "exchange/names.hpp"
#include "profile/compensation.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {

using profile::CallTree;
using profile::FlatRow;
using profile::NodeId;
using profile::Totals;

namespace {

double row_value(const Figures& figures, SortKey key) {
  switch (key) {
    case SortKey::kInclusive: return figures.compensated_inclusive;
    case SortKey::kExclusive: return figures.compensated_exclusive;
    case SortKey::kVisits: return static_cast<double>(figures.visits);
    case SortKey::kMean: return std::isnan(figures.mean) ? 0 : figures.mean;
    case SortKey::kName: break;
  }
  return 0;
}

void add_own_time(const WorkTimes& times, std::size_t node, Figures& figures) {
  figures.working += times.working[node];
  figures.waiting += times.waiting[node];
  figures.unmeasured += times.unmeasured[node];
}

// The visits that were seen have another mean than the time that was estimated for all.
void forget_mean(Figures& figures) {
  if (figures.at_least && figures.own_estimate.any()) {
    figures.mean = std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

ReportData::ReportData(const CallTree& tree, const profile::LocationFilter& filter)
    : tree_(&tree),
      throttled_(tree.definitions.properties),
      totals_(profile::sum_locations(tree, filter)),
      estimates_(tree, filter),
      times_(work_times(tree, filter)),
      total_(profile::total_time(tree, totals_)) {}

void ReportData::compensate(const CallCost& cost) {
  cost_ = cost;
  compensated_ = profile::compensate(*tree_, totals_, cost);
}

double ReportData::to_seconds(std::uint64_t ticks) const {
  return seconds(ticks, tree_->definitions);
}

// Of a difference the total may be less than a part, or negative.
double ReportData::share(double part) const {
  return total_ == 0 ? 0 : part / std::abs(total_seconds());
}

const Region& ReportData::region(RegionId region) const {
  static const Region kNone;
  return region.defined() ? tree_->definitions.regions[region.value()] : kNone;
}

std::string ReportData::region_name(RegionId id) const {
  return exchange::region_name(tree_->definitions, id);
}

Figures ReportData::figures_of(RegionId id, const Totals& totals, const Totals& compensated,
                               std::uint64_t visit_time) const {
  Figures figures;
  figures.visits = profile::signed_value(totals.visits);
  figures.at_least = id.defined() && throttled_.holds(region(id));
  figures.truncated = id.defined() && throttled_.truncates(region(id));
  figures.inclusive = to_seconds(totals.inclusive);
  figures.exclusive = to_seconds(totals.exclusive);
  figures.compensated_inclusive = to_seconds(compensated.inclusive);
  figures.compensated_exclusive = to_seconds(compensated.exclusive);
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  // Beyond a limit, the time is the time of some of the visits only.
  const bool sampled = has_sampled_calls(tree_->definitions);
  const bool mean_known = totals.visits != 0 && id.defined() && !sampled;
  figures.mean =
      mean_known ? to_seconds(visit_time) / static_cast<double>(figures.visits) : kUnknown;
  // Not every profile of another tool holds them.
  const bool extremes_known = totals.min != UINT64_MAX && !sampled;
  figures.min = extremes_known ? to_seconds(totals.min) : kUnknown;
  figures.max = extremes_known ? to_seconds(totals.max) : kUnknown;
  figures.inclusive_share = share(figures.inclusive);
  figures.exclusive_share = share(figures.exclusive);
  return figures;
}

const profile::ParameterSet& ReportData::parameters(const Row& row) const {
  static const profile::ParameterSet kNone;
  return row.parameters.defined() ? tree_->parameter_sets[row.parameters.value()] : kNone;
}

std::string ReportData::row_name(const Row& row) const {
  const std::string values = text_of(parameters(row));
  return region_name(row.region) + (values.empty() ? "" : " {" + values + "}");
}

void ReportData::sort(std::vector<Row>& rows, SortKey key) const {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (key == SortKey::kName) return region_name(a.region) < region_name(b.region);
    return row_value(a.figures, key) > row_value(b.figures, key);
  });
}

Row ReportData::tree_row(std::uint32_t node) const {
  Row row;
  row.node = NodeId{node};
  row.parent = tree_->nodes[node].parent;
  row.region = tree_->nodes[node].region;
  row.parameters = tree_->nodes[node].parameters;
  row.depth = tree_->nodes[node].depth;
  const Totals& less = cost_ ? compensated_[node] : totals_[node];
  row.figures = figures_of(row.region, totals_[node], less, totals_[node].inclusive);
  add_own_time(times_, node, row.figures);
  row.figures.own_estimate = estimates_.own_of(row.node);
  row.figures.total_estimate = estimates_.total_of(row.node);
  forget_mean(row.figures);
  if (metric_) row.metric = metric_->of_node(row.node);
  return row;
}

Rows ReportData::tree_rows(const RowOptions& options) const {
  Rows result;
  std::unordered_map<NodeId, std::vector<Row>> children;
  for (std::uint32_t i = 0; i < totals_.size(); ++i) {
    // Of a thread that another one started inside, time may be known without a visit.
    if (totals_[i].visits == 0 && totals_[i].inclusive == 0) continue;
    const Row row = tree_row(i);
    if (total_ != 0 && std::abs(row.figures.inclusive_share) * 100 < options.min_percent) {
      ++result.hidden.small;
      result.hidden.small_seconds += row.figures.exclusive;
    } else if (row.depth >= options.depth) {
      ++result.hidden.deep;
    } else {
      children[row.parent].push_back(row);
    }
  }
  // The rows that wait to be shown, the next one last.
  std::vector<Row> waiting;
  const auto add_children_of = [&](NodeId node) {
    const auto found = children.find(node);
    if (found == children.end()) return;
    std::vector<Row>& siblings = found->second;
    sort(siblings, options.sort.value_or(SortKey::kInclusive));
    siblings.back().last_child = true;
    siblings.back().only_child = siblings.size() == 1;
    waiting.insert(waiting.end(), siblings.rbegin(), siblings.rend());
    children.erase(found);
  };
  for (add_children_of({}); !waiting.empty();) {
    result.rows.push_back(waiting.back());
    waiting.pop_back();
    add_children_of(result.rows.back().node);
  }
  return result;
}

// By region; the last is for call paths beyond the limit.
std::vector<Figures> ReportData::own_times_of_regions() const {
  std::vector<Figures> sums(tree_->definitions.regions.size() + 1);
  for (std::size_t i = 0; i < tree_->nodes.size(); ++i) {
    const RegionId region = tree_->nodes[i].region;
    add_own_time(times_, i, region.defined() ? sums[region.value()] : sums.back());
  }
  return sums;
}

// Recorded functions that a throttled one has called lie in other call paths.
void ReportData::add_estimates(RegionId region, Figures& figures) const {
  figures.own_estimate = estimates_.own_of(region);
  figures.total_estimate = estimates_.total_of(region);
  forget_mean(figures);
  const double below = estimates_.below_of(region).seconds;
  figures.inclusive += below;
  figures.compensated_inclusive += below;
  figures.inclusive_share = share(figures.inclusive);
}

Rows ReportData::flat_rows(const RowOptions& options) const {
  Rows result;
  const SortKey key = options.sort.value_or(SortKey::kExclusive);
  // In the same order; rows that were never visited and have no time left are not in it.
  const std::vector<FlatRow> compensated =
      cost_ ? profile::flat_profile(*tree_, compensated_) : std::vector<FlatRow>();
  auto less = compensated.begin();
  const std::vector<Figures> own = own_times_of_regions();
  for (const FlatRow& region : profile::flat_profile(*tree_, totals_)) {
    Row row;
    row.region = region.region;
    const bool left = less != compensated.end() && less->region == region.region;
    const Totals without = left ? less++->totals : cost_ ? Totals() : region.totals;
    row.figures = figures_of(region.region, region.totals, without, region.visit_time);
    const Figures& parts = region.region.defined() ? own[region.region.value()] : own.back();
    row.figures.working = parts.working;
    row.figures.waiting = parts.waiting;
    row.figures.unmeasured = parts.unmeasured;
    add_estimates(region.region, row.figures);
    if (metric_) row.metric = metric_->of_region(region.region);
    const double measure =
        key == SortKey::kInclusive ? row.figures.inclusive_share : row.figures.exclusive_share;
    if (total_ != 0 && std::abs(measure) * 100 < options.min_percent) {
      ++result.hidden.small;
      result.hidden.small_seconds += row.figures.exclusive;
    } else {
      result.rows.push_back(row);
    }
  }
  sort(result.rows, key);
  return result;
}

}  // namespace timeloom::tools
