// The columns that `timeloom report --metric NAME` adds: values of a sampled metric in call
// paths and regions.
//
// Plain values made from a CallTree. Throws Error when there is no such metric.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/metric_unit.hpp"
#include "profile/call_tree.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// In the unit of the metric. For metrics other than counters both are the largest value.
struct MetricFigures {
  std::uint64_t inclusive = 0;
  std::uint64_t exclusive = 0;
};

class MetricColumns {
 public:
  // `name`: of the metric; with _per_process at its end, of a metric of the process.
  MetricColumns(const profile::CallTree& tree, const std::string& name,
                const profile::LocationFilter& filter);

  const std::string& name() const noexcept { return name_; }
  std::string unit() const { return value_unit(joins_); }
  // The sum over all call paths and the time while no region was open.
  std::uint64_t total() const noexcept { return total_; }
  std::uint64_t outside() const noexcept { return outside_; }

  const MetricFigures& of_node(profile::NodeId node) const { return nodes_[node.value()]; }
  const MetricFigures& of_region(RegionId region) const;

  // "12.3ms", "4.5 MB", "1.23M".
  std::string text(std::uint64_t value, const Terminal& terminal) const;

 private:
  void add_cells(const profile::CallTree& tree, const profile::LocationFilter& filter);
  void sum_nodes(const profile::CallTree& tree);
  void sum_regions(const profile::CallTree& tree);

  std::string name_;
  std::vector<bool> wanted_;  // by metric of the run
  Metric joins_;              // one of them
  std::vector<MetricFigures> nodes_;
  std::unordered_map<RegionId, MetricFigures> regions_;
  std::uint64_t total_ = 0;
  std::uint64_t outside_ = 0;
};

}  // namespace timeloom::tools
