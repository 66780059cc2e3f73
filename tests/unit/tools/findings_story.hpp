// Runs for the tests of findings, and the findings in them.
#pragma once

#include <cstdint>
#include <string>

#include "core/waiting_metric.hpp"
#include "profile/story.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {

// A tick is a millisecond. All files are the project's, but the files of regions that begin with
// "import", which are Python's import system, and with "lib", which are the standard library's.
inline profile::CallTree tree_of(profile::Story& story) {
  story.definitions().clock.ticks_per_second = 1000;
  for (Region& region : story.definitions().regions) {
    if (region.name.starts_with("import")) region.file = "<frozen importlib._bootstrap>";
    if (region.name.starts_with("lib")) region.file = "<frozen os>";
  }
  story.definitions().metrics = {waiting_metric()};
  return story.fold();
}

// Of the time of a function on a location, `ms` were waiting; with the number of the metric of a
// cause: of the waiting, `ms` were of this cause.
inline void wait_in(profile::CallTree& tree, std::size_t location, const std::string& name,
                    std::uint64_t ms, std::uint32_t metric = 0) {
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.definitions.regions[tree.nodes[i].region.value()].name != name) continue;
    tree.locations[location].samples.push_back(
        {MetricId{metric}, profile::NodeId{i}, ms * 1'000'000});
    return;
  }
}

inline Findings findings_in(const profile::CallTree& tree) {
  return find(tree, Answer(tree, {}), {}, facts_of(tree.definitions).wall_seconds, Terminal());
}

// The names of functions as `--region-names scorep` writes them: "threading.Thread:join".
inline profile::CallTree with_colons(profile::CallTree tree) {
  for (Region& region : tree.definitions.regions) {
    const std::size_t dot = region.name.rfind('.');
    if (dot != std::string::npos) region.name[dot] = ':';
  }
  return tree;
}

inline std::string rules_in(const profile::CallTree& tree) {
  std::string rules;
  for (const Finding& one : findings_in(tree)) rules += one.rule + " ";
  return rules;
}

}  // namespace timeloom::tools
