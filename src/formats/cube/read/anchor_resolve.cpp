// Resolves the numbers of anchor.xml, and checks for missing and duplicate ones.
#include <set>
#include <unordered_map>

#include "formats/cube/read/anchor_words.hpp"

namespace timeloom::cube {

namespace {

void link_cnodes(const AnchorNumbers& numbers, Anchor& anchor) {
  std::unordered_map<std::uint32_t, std::uint32_t> regions;
  for (std::uint32_t i = 0; i < anchor.regions.size(); ++i) {
    if (!regions.emplace(anchor.regions[i], i).second) {
      throw Damage{"two regions have the id " + std::to_string(anchor.regions[i])};
    }
  }
  std::vector<bool> taken(anchor.cube.cnodes.size());
  for (std::size_t i = 0; i < anchor.cube.cnodes.size(); ++i) {
    const std::uint32_t number = anchor.cnodes[i];
    if (number >= taken.size()) {
      throw Damage{"of its " + std::to_string(taken.size()) + " call paths one has the id " +
                   std::to_string(number)};
    }
    if (taken[number]) throw Damage{"two call paths have the id " + std::to_string(number)};
    taken[number] = true;
    const auto region = regions.find(numbers.callees[i]);
    if (region == regions.end()) {
      throw Damage{"a call path is of the region " + std::to_string(numbers.callees[i]) +
                   ", which is missing"};
    }
    anchor.cube.cnodes[i].region = CubeRegionId{region->second};
  }
}

// True if each number from 0 on occurs once.
bool is_permutation_of_ids(const std::vector<std::uint32_t>& ids) {
  std::vector<bool> taken(ids.size());
  for (const std::uint32_t number : ids) {
    if (number >= taken.size() || taken[number]) return false;
    taken[number] = true;
  }
  return true;
}

template <typename Item>
void sort_by(const std::vector<std::uint32_t>& ids, std::vector<Item>& items) {
  std::vector<Item> sorted(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) sorted[ids[i]] = std::move(items[i]);
  items = std::move(sorted);
}

// The document sorts processes by host; their numbers, if valid, are the order in which the tool
// knew them.
void sort_groups(const AnchorNumbers& numbers, Anchor& anchor) {
  if (!is_permutation_of_ids(numbers.groups)) return;
  for (Location& location : anchor.cube.locations) {
    location.group = CubeGroupId{numbers.groups[location.group.value()]};
  }
  sort_by(numbers.groups, anchor.cube.groups);
}

// A location's id is its column.
void sort_locations(const AnchorNumbers& numbers, Anchor& anchor) {
  if (!is_permutation_of_ids(numbers.locations)) {
    throw Damage{"its locations are not numbered from 0 on without gaps"};
  }
  sort_by(numbers.locations, anchor.cube.locations);
}

}  // namespace

void resolve(const AnchorNumbers& numbers, Anchor& anchor) {
  const auto need = [](bool there, const char* what) {
    if (!there) throw Damage{std::string("it describes no ") + what};
  };
  need(!anchor.cube.metrics.empty(), "metric");
  need(!anchor.cube.regions.empty(), "region");
  need(!anchor.cube.cnodes.empty(), "call path");
  need(!anchor.cube.locations.empty(), "location");
  std::set<std::string_view> names;
  for (const Metric& metric : anchor.cube.metrics) {
    if (!names.insert(metric.unique_name).second) {
      throw Damage{"two metrics are called '" + metric.unique_name + "'"};
    }
  }
  if (std::set<std::uint32_t>(anchor.metrics.begin(), anchor.metrics.end()).size() !=
      anchor.metrics.size()) {
    throw Damage{"two metrics have the same id"};
  }
  link_cnodes(numbers, anchor);
  sort_groups(numbers, anchor);
  sort_locations(numbers, anchor);
}

}  // namespace timeloom::cube
