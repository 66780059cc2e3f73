#include <algorithm>
#include <map>

#include "exchange/names.hpp"
#include "tools/report/memory/report_memory.hpp"

namespace timeloom::tools {
namespace {

using profile::MetricStatistics;

// The member of a row for a metric; nullptr: the metric is another one.
MetricStatistics MemoryRow::*member_for(const std::string& metric) {
  if (metric == kBytesAllocated) return &MemoryRow::allocated;
  if (metric == kBytesFreed) return &MemoryRow::freed;
  if (metric == kBytesAtPeak) return &MemoryRow::at_peak;
  if (metric == kPythonAllocated) return &MemoryRow::python_allocated;
  if (metric == kPythonFreed) return &MemoryRow::python_freed;
  if (metric == kBytesTemporary) return &MemoryRow::temporary;
  return metric == kBytesHeld ? &MemoryRow::at_end : nullptr;
}

MetricStatistics amount_of(std::uint64_t count, std::uint64_t bytes) {
  MetricStatistics amount;
  amount.count = count;
  amount.sum = static_cast<double>(bytes);
  return amount;
}

void add_apart(MemoryRow& row, const ProcessMemory::Apart& apart) {
  row.allocated.add(amount_of(apart.allocations, apart.allocated));
  row.freed.add(amount_of(apart.frees, apart.freed));
  row.at_peak.add(amount_of(apart.blocks_at_peak, apart.at_peak));
  row.at_end.add(amount_of(apart.blocks_at_end, apart.at_end));
}

using RowsOfNodes = std::map<std::uint32_t, MemoryRow>;  // by node

void add_memory_of(RowsOfNodes& rows, const profile::LocationProfile& location,
                   const Definitions& definitions) {
  for (const profile::MetricCell& cell : location.metrics) {
    const auto member = member_for(definitions.metrics[cell.metric.value()].name);
    if (member == nullptr || !cell.node.defined()) continue;
    MemoryRow& row = rows[cell.node.value()];
    row.node = cell.node;
    (row.*member).add(cell.statistics);
  }
}

}  // namespace

void keep_paths_with(MemoryFacts& facts, const profile::CallTree& tree,
                     const std::vector<RegionId>& regions) {
  std::vector<bool> inside(tree.nodes.size());
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const profile::Node& node = tree.nodes[i];
    inside[i] = std::ranges::find(regions, node.region) != regions.end() ||
                (node.parent.defined() && inside[node.parent.value()]);
  }
  std::erase_if(facts.rows, [&](const MemoryRow& row) {
    return row.apart != nullptr || !inside[row.node.value()];
  });
  for (const RegionId region : regions) {
    const std::string name = exchange::region_name(tree.definitions, region);
    if (std::ranges::find(facts.functions, name) == facts.functions.end()) {
      facts.functions.push_back(name);
    }
  }
}

std::vector<std::pair<std::size_t, MemoryRow>> memory_rows_by_location(
    const profile::CallTree& tree) {
  std::vector<std::pair<std::size_t, MemoryRow>> all;
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    RowsOfNodes rows;
    add_memory_of(rows, tree.locations[i], tree.definitions);
    for (const auto& [node, row] : rows) all.emplace_back(i, row);
  }
  return all;
}

double MemoryFacts::interval() const {
  std::uint64_t largest = 0;
  for (const Process& process : processes) {
    if (process.memory.all == 0) largest = std::max(largest, process.memory.interval);
  }
  return static_cast<double>(largest);
}

double MemoryFacts::temporary_interval() const {
  std::uint64_t largest = 0;
  for (const Process& process : processes) {
    if (process.memory.all != kEachBlock) largest = std::max(largest, process.memory.interval);
  }
  return static_cast<double>(largest);
}

std::optional<ProcessMemory> memory_peak(const Definitions& definitions) {
  const auto found = definitions.properties.find(kRunMemory);
  if (found == definitions.properties.end()) return std::nullopt;
  return process_memory(found->second);
}

MemoryFacts memory_facts(const profile::CallTree& tree) {
  MemoryFacts facts;
  const Definitions& definitions = tree.definitions;
  facts.run = memory_peak(definitions).value_or(ProcessMemory{});
  for (std::size_t i = 0; i < definitions.groups.size(); ++i) {
    const auto found = definitions.properties.find(memory_property(i));
    if (found == definitions.properties.end()) continue;
    facts.processes.push_back({definitions.groups[i].name, process_memory(found->second)});
  }
  if (!facts.any()) return facts;
  RowsOfNodes rows;
  for (const profile::LocationProfile& location : tree.locations) {
    add_memory_of(rows, location, definitions);
  }
  for (auto& [node, row] : rows) facts.rows.push_back(row);
  MemoryRow own, other;
  own.apart = kOwnMemory;
  other.apart = "(outside all regions)";
  MemoryRow before;
  std::uint64_t lost = 0;
  for (const MemoryFacts::Process& process : facts.processes) {
    lost += process.memory.lost;
    before.at_peak.sum += static_cast<double>(process.memory.before_at_peak);
    before.at_end.sum += static_cast<double>(process.memory.before_at_end);
    add_apart(own, process.memory.own);
    add_apart(other, process.memory.other);
  }
  before.apart = lost == 0 ? "(before the program)" : "(before the program, or lost)";
  facts.rows.push_back(own);
  facts.rows.push_back(other);
  if (before.at_peak.sum > 0 || before.at_end.sum > 0) facts.rows.push_back(before);
  return facts;
}

}  // namespace timeloom::tools
