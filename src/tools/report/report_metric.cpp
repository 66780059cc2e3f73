#include "tools/report/report_metric.hpp"

#include "core/error.hpp"
#include "core/samples/sampled_time.hpp"
#include "profile/flat_profile.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

std::string full_name(const Metric& metric) {
  return metric.name + (metric.of_process() ? "_per_process" : "");
}

[[noreturn]] void refuse_metric(const std::string& name, const profile::CallTree& tree) {
  std::string known;
  for (const Metric& metric : tree.definitions.metrics) {
    if (metric.sampled() && !metric.of_waiting())
      known += (known.empty() ? "" : ", ") + full_name(metric);
  }
  throw Error("no metric '" + name + "' was sampled in this run; " +
              (known.empty() ? "--metric-rusage and --metric-papi of timeloom run do that"
                             : "there are " + known) +
              (name == kSampledTimeMetric ? "; --native shows the sampled time" : "") + " [TL422]");
}

}  // namespace

MetricColumns::MetricColumns(const profile::CallTree& tree, const std::string& name,
                             const profile::LocationFilter& filter)
    : name_(name), nodes_(tree.nodes.size()) {
  bool found = false;
  for (const Metric& metric : tree.definitions.metrics) {
    const bool wanted = metric.sampled() && full_name(metric) == name;
    wanted_.push_back(wanted);
    if (wanted) joins_ = metric;
    found = found || wanted;
  }
  if (!found) refuse_metric(name, tree);
  add_cells(tree, filter);
  sum_nodes(tree);
  sum_regions(tree);
}

void MetricColumns::add_cells(const profile::CallTree& tree,
                              const profile::LocationFilter& filter) {
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    if (filter && !filter(tree.definitions.locations[i])) continue;
    for (const profile::SampleCell& cell : tree.locations[i].samples) {
      if (!wanted_[cell.metric.value()]) continue;
      std::uint64_t& sum = cell.node.defined() ? nodes_[cell.node.value()].exclusive : outside_;
      sum = joins_.join(sum, cell.value);
      total_ = joins_.join(total_, cell.value);
    }
  }
}

// Callers come before what they call.
void MetricColumns::sum_nodes(const profile::CallTree& tree) {
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    MetricFigures& own = nodes_[i];
    own.inclusive = joins_.join(own.inclusive, own.exclusive);
    const profile::NodeId parent = tree.nodes[i].parent;
    if (!parent.defined()) continue;
    std::uint64_t& above = nodes_[parent.value()].inclusive;
    above = joins_.join(above, own.inclusive);
  }
}

// As times: in a recursion nothing counts twice.
void MetricColumns::sum_regions(const profile::CallTree& tree) {
  std::vector<profile::Totals> totals(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    MetricFigures& region = regions_[tree.nodes[i].region];
    region.inclusive = std::max(region.inclusive, nodes_[i].inclusive);
    region.exclusive = joins_.join(region.exclusive, nodes_[i].exclusive);
    totals[i].visits = 1;
    totals[i].inclusive = nodes_[i].inclusive;
  }
  if (!joins_.counts()) return;
  for (const profile::FlatRow& row : profile::flat_profile(tree, totals)) {
    regions_[row.region].inclusive = row.totals.inclusive;
  }
}

const MetricFigures& MetricColumns::of_region(RegionId region) const {
  static const MetricFigures kNone;
  const auto found = regions_.find(region);
  return found == regions_.end() ? kNone : found->second;
}

std::string MetricColumns::text(std::uint64_t value, const Terminal& terminal) const {
  const double real = static_cast<double>(value) * unit_factor(joins_);
  if (joins_.unit == "s") return duration(real, terminal);
  if (joins_.unit == "Bytes" && real < 0x1p63) return bytes(static_cast<std::uint64_t>(real));
  if (joins_.exponent >= 0 && real < 0x1p63) return short_count(static_cast<std::int64_t>(real));
  return formatted("{:.3g}", real);
}

}  // namespace timeloom::tools
