// Rules about memory.

#include <algorithm>
#include <map>

#include "core/memory/memory_facts.hpp"
#include "core/memory/resident_peak.hpp"
#include "core/regions/collection_region.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr double kNamed = 0.5;             // of the growth: the region is its cause
constexpr double kMuchCollecting = 0.15;   // of the work
constexpr double kLeastCollecting = 0.05;  // seconds

std::string process_of(const FoundIn& run, std::uint64_t number) {
  return printable(of_process(run.tree.definitions, number));
}

struct Collecting {
  double working = 0;
  std::int64_t visits = 0;
  std::map<RegionId, double> callers{};  // seconds
};

// Not during imports, which are found by their own rule.
Collecting collecting(const FoundIn& run) {
  const WorkTimes& times = run.answer.times();
  Collecting all;
  for (std::size_t i = 0; i < run.tree.nodes.size(); ++i) {
    const profile::Node& node = run.tree.nodes[i];
    if (!node.region.defined() || !node.parent.defined() || run.paths[i].is_in_import()) continue;
    const Region& region = run.tree.definitions.regions[node.region.value()];
    if (!is_collection(region)) continue;
    const RegionId caller = run.tree.nodes[node.parent.value()].region;
    all.working += times.working[i];
    all.visits += times.visits[i];
    all.callers[caller] += times.working[i];
  }
  return all;
}

}  // namespace

void find_collections(const FoundIn& run, Findings& findings) {
  const Collecting all = collecting(run);
  const double share = all.working / std::max(run.answer.times().all_working, kLeastCollecting);
  if (share < kMuchCollecting || all.working < kLeastCollecting) return;
  const RegionId most =
      std::ranges::max_element(all.callers, {}, [](const auto& one) { return one.second; })->first;
  findings.push_back(
      {"garbage-collection",
       formatted("{} of garbage take {}, {} of the work, most of it in {}",
                 plural(static_cast<std::uint64_t>(all.visits), "collection"),
                 duration(all.working, run.terminal, " "), percent(share),
                 printable(run.answer.region_name(most))),
       "report --function gc.collect",
       all.working,
       {{"collections", static_cast<double>(all.visits)}, {"working_s", all.working}}});
}

void find_growing_memory(const FoundIn& run, Findings& findings) {
  const auto& properties = run.tree.definitions.properties;
  const auto property = properties.find(kMemoryGrowth);
  if (property == properties.end()) return;
  const MemoryGrowth growth = memory_growth(property->second);
  if (growth.to <= growth.from) return;
  const auto whole = static_cast<double>(growth.to - growth.from);
  const auto of_region = std::min(static_cast<double>(growth.of_region), whole);
  std::string text =
      formatted("memory{} only grows, from {} to {} in {}", process_of(run, growth.process),
                bytes(growth.from), bytes(growth.to),
                duration(static_cast<double>(growth.time) * 1e-9, run.terminal, " "));
  if (!growth.region.empty() && of_region >= kNamed * whole) {
    text += formatted(": ~{} of it is held by {}", bytes(static_cast<std::uint64_t>(of_region)),
                      printable(growth.region));
  }
  findings.push_back({"growing-memory",
                      std::move(text),
                      "report --memory",
                      0,
                      {{"from_bytes", static_cast<double>(growth.from)},
                       {"to_bytes", static_cast<double>(growth.to)},
                       {"of_region_bytes", of_region}}});
}

namespace {

constexpr std::uint64_t kLeastScattered = 200'000'000;

bool is_scattered(std::uint64_t resident, std::uint64_t held) {
  return held != 0 && resident / 2 >= held && resident - 2 * held >= kLeastScattered;
}

// The blocks are gone, and their pages stayed: of the process with the most in memory.
void find_memory_that_stayed(const FoundIn& run, Findings& findings) {
  ProcessMemory most;
  for (std::size_t i = 0; i < run.tree.definitions.groups.size(); ++i) {
    const auto found = run.tree.definitions.properties.find(memory_property(i));
    if (found == run.tree.definitions.properties.end()) continue;
    const ProcessMemory memory = process_memory(found->second);
    const bool scattered = is_scattered(memory.resident_at_end, memory.at_end);
    if (scattered && memory.resident_at_end > most.resident_at_end) most = memory;
  }
  if (most.resident_at_end == 0) return;
  findings.push_back(
      {"scattered-memory",
       formatted(
           "the resident memory was {} at the end, the blocks that the program held {}: pages "
           "with few blocks in them, or memory that the allocator keeps",
           bytes(most.resident_at_end), bytes(most.at_end)),
       "report --memory",
       0,
       {{"resident_bytes", static_cast<double>(most.resident_at_end)},
        {"held_bytes", static_cast<double>(most.at_end)}}});
}

}  // namespace

// The kernel gives the process pages that hold little, or it maps much beside its blocks: at the
// peak, else at the end.
void find_scattered_memory(const FoundIn& run, Findings& findings) {
  const Definitions& definitions = run.tree.definitions;
  const auto property = definitions.properties.find(kResidentPeak);
  if (property == definitions.properties.end()) return;
  const std::uint64_t resident = resident_peak_of(property->second).peak;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < definitions.groups.size(); ++i) {
    const auto found = definitions.properties.find(memory_property(i));
    if (found == definitions.properties.end()) continue;
    most = std::max(most, process_memory(found->second).peak);
  }
  if (!is_scattered(resident, most)) return find_memory_that_stayed(run, findings);
  findings.push_back(
      {"scattered-memory",
       formatted("the resident memory reached {}, the blocks that the program held {} at most: "
                 "pages with few blocks in them, or memory that is not from an allocator",
                 bytes(resident), bytes(most)),
       "report --memory",
       0,
       {{"resident_bytes", static_cast<double>(resident)},
        {"held_bytes", static_cast<double>(most)}}});
}

}  // namespace timeloom::tools
