#include <algorithm>
#include <map>
#include <set>

#include "tools/report/imports/report_imports.hpp"
#include "tools/report/work_times.hpp"

namespace timeloom::tools {
namespace {

using profile::CallTree;
using profile::Node;

// The body of the program itself is not imported, nor is a text that a function evaluates.
bool is_module_body(const Region& region) {
  const bool text = region.file.starts_with('<') && !region.file.starts_with("<frozen ");
  return region.name.ends_with(".<module>") && region.name != "__main__.<module>" && !text;
}

// By node, seconds with the calls inside: all of them, and without the bodies of other modules.
struct Sums {
  std::vector<double> total;
  std::vector<double> own;
};

Sums sums_of(const CallTree& tree, const WorkTimes& times, const std::vector<bool>& bodies) {
  Sums sums;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    sums.total.push_back(times.working[i] + times.waiting[i]);
  }
  sums.own = sums.total;
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    const Node& node = tree.nodes[i];
    if (!node.parent.defined()) continue;
    sums.total[node.parent.value()] += sums.total[i];
    const bool body = node.region.defined() && bodies[node.region.value()];
    if (!body) sums.own[node.parent.value()] += sums.own[i];
  }
  return sums;
}

// By region, the processes that have visited it.
std::map<RegionId, std::set<LocationGroupId>> visitors(const CallTree& tree,
                                                       const profile::LocationFilter& filter,
                                                       const std::vector<bool>& bodies) {
  std::map<RegionId, std::set<LocationGroupId>> all;
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    if (filter && !filter(tree.definitions.locations[i])) continue;
    for (const profile::Cell& cell : tree.locations[i].cells) {
      const RegionId region = tree.nodes[cell.node.value()].region;
      if (cell.statistics.visits == 0 || !region.defined() || !bodies[region.value()]) continue;
      all[region].insert(tree.definitions.locations[i].group);
    }
  }
  return all;
}

}  // namespace

ImportFacts import_facts(const CallTree& tree, const profile::LocationFilter& filter) {
  const WorkTimes times = work_times(tree, filter);
  std::vector<bool> bodies;
  for (const Region& region : tree.definitions.regions) bodies.push_back(is_module_body(region));
  const Sums sums = sums_of(tree, times, bodies);
  ImportFacts facts;
  facts.run = times.all_working + times.all_waiting;
  std::map<RegionId, ImportRow> rows;
  std::map<RegionId, std::map<RegionId, double>> importers;
  std::vector<bool> inside(tree.nodes.size());  // of a body
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    const bool below = node.parent.defined() && inside[node.parent.value()];
    const bool body = node.region.defined() && bodies[node.region.value()];
    inside[i] = below || body;
    if (!body) continue;
    if (!below) facts.all += sums.total[i];
    ImportRow& row = rows[node.region];
    row.body = node.region;
    row.own += sums.own[i];
    row.total += sums.total[i];
    const RegionId importer =
        node.parent.defined() ? tree.nodes[node.parent.value()].region : RegionId{};
    importers[node.region][importer] += sums.total[i];
  }
  const auto by_processes = visitors(tree, filter, bodies);
  for (auto& [region, row] : rows) {
    if (!by_processes.contains(region)) continue;
    const auto visited = by_processes.find(region);
    row.processes = visited->second.size();
    const auto& of_row = importers[region];
    const auto most =
        std::ranges::max_element(of_row, {}, [](const auto& one) { return one.second; });
    row.importer = most->first;
    row.of_importer = most->second;
    facts.rows.push_back(row);
  }
  std::ranges::stable_sort(facts.rows, std::ranges::greater(), &ImportRow::own);
  return facts;
}

}  // namespace timeloom::tools
