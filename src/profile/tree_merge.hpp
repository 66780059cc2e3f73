// Merges the trees of single locations into one, by call path.
//
// Used by one thread, after all locations have been aggregated. Throws std::bad_alloc. Adding them
// in order of their ids makes the result independent of the order in which they were aggregated.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "core/child_table.hpp"
#include "profile/call_tree.hpp"
#include "profile/location_aggregator.hpp"

namespace timeloom::profile {

// Sorts by metric and node, and joins the values of equal pairs.
void join_samples(std::vector<SampleCell>& samples, const std::vector<Metric>& metrics);

class TreeMerge {
 public:
  // `definitions` must outlive the merge.
  explicit TreeMerge(const Definitions& definitions)
      : definitions_(definitions),
        profiles_(definitions.locations.size()),
        parts_(definitions.locations.size()) {}

  // Adds the tree to location number `index`. Consumes its argument, so that memory does not
  // double.
  void add(std::size_t index, AggregatedLocation&& location);
  // Moves nodes and locations into `tree`.
  void finish(CallTree& tree);

 private:
  struct Path {
    std::uint32_t parent;
    std::uint64_t region;
    ParameterSetId parameters;
  };

  std::uint32_t child_of(std::uint32_t parent, std::uint64_t region, ParameterSetId parameters);
  std::uint32_t key_of(std::uint64_t region, ParameterSetId parameters);
  std::vector<ParameterSetId> sets_of(const AggregatedLocation& location);
  ParameterSetId set_with(ParameterSetId base, const AggregatedLocation::Parameter& added);
  void add_statistics(std::size_t index, const AggregatedLocation& location,
                      const std::vector<std::uint32_t>& merged);
  static void join_cells(std::vector<Cell>& cells);
  static void join_metrics(std::vector<MetricCell>& metrics);
  static void add_parts(std::vector<Cell>& cells, std::vector<AggregatedLocation::Part>& parts);
  std::vector<std::uint32_t> place_in_preorder(CallTree& tree) const;

  const Definitions& definitions_;
  std::vector<Path> paths_ = {{0, kNoRegion, {}}};  // parents first; 0 is above the roots
  ChildTable children_;
  std::map<ParameterSet, std::uint32_t> sets_;
  std::vector<const ParameterSet*> set_by_id_;                             // in sets_
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> keys_;  // of region and set
  std::vector<LocationProfile> profiles_;
  std::vector<std::vector<AggregatedLocation::Part>> parts_;  // of locations
};

}  // namespace timeloom::profile
