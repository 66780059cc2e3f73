#include "tools/report/memory/memory_groups.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tools/report/answer.hpp"
#include "tools/report/table/row_table.hpp"
#include "tools/run/json_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {
namespace {

using profile::MetricStatistics;

void add_row(MemoryGroup& group, const MemoryRow& row) {
  group.allocated.add(row.allocated);
  group.freed.add(row.freed);
  group.at_peak.add(row.at_peak);
  group.at_end.add(row.at_end);
}

class MemoryGroups {
 public:
  MemoryGroup& of(const std::string& name) {
    const auto [found, fresh] = places_.try_emplace(name, groups_.size());
    if (fresh) groups_.emplace_back().name = name;
    return groups_[found->second];
  }
  std::vector<MemoryGroup> take() { return std::move(groups_); }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<MemoryGroup> groups_;
};

void add_memory_by_region(MemoryGroups& groups, const MemoryFacts& facts,
                          const profile::CallTree& tree, GroupKey key) {
  const Answer answer(tree, {});
  for (const MemoryRow& row : facts.rows) {
    if (row.apart != nullptr) continue;
    const RegionId region = tree.nodes[row.node.value()].region;
    add_row(groups.of(region.defined() ? group_name(tree.definitions, region, key, answer.owner())
                                       : "(more call paths)"),
            row);
  }
}

// `facts` has the rows that count, over all locations.
void add_memory_by_location(MemoryGroups& groups, const MemoryFacts& facts,
                            const profile::CallTree& tree, GroupKey key) {
  std::set<profile::NodeId> counted;
  for (const MemoryRow& row : facts.rows) counted.insert(row.node);
  for (const auto& [location, row] : memory_rows_by_location(tree)) {
    if (!counted.contains(row.node)) continue;
    add_row(groups.of(group_name(tree.definitions, tree.definitions.locations[location], key)),
            row);
  }
}

bool holds_more(const MemoryGroup& a, const MemoryGroup& b) {
  return std::pair(a.at_peak.sum, a.allocated.sum) > std::pair(b.at_peak.sum, b.allocated.sum);
}

std::uint64_t whole_bytes(double value) {
  return value > 0 && value < 0x1p63 ? static_cast<std::uint64_t>(value + 0.5) : 0;
}

double error_of_held(const MetricStatistics& held, double interval) {
  return sampling_error(static_cast<double>(held.count), held.min, interval);
}

// `all_at_peak`: bytes of all groups, of which `share` is a part.
RowTable<MemoryGroup> memory_group_table(GroupKey key, double interval, double all_at_peak) {
  using Row = MemoryGroup;
  using Held = MetricStatistics Row::*;
  const auto bytes_of = [](Held member) {
    return
        [member](const Row& row) { return nlohmann::ordered_json(whole_bytes((row.*member).sum)); };
  };
  const auto error = [interval](Held member) {
    return [interval, member](const Row& row) {
      return nlohmann::ordered_json(whole_bytes(error_of_held(row.*member, interval)));
    };
  };
  const auto held_cell = [interval](Held member) {
    return [interval, member](const Row& row, const Terminal&) {
      const MetricStatistics& held = row.*member;
      return (error_of_held(held, interval) > 0 ? "~" : "") + bytes(whole_bytes(held.sum));
    };
  };
  const auto share = [all_at_peak](const Row& row) {
    return nlohmann::ordered_json(all_at_peak == 0 ? 0 : row.at_peak.sum / all_at_peak);
  };
  return {std::string(by_word(key)),
          {{"name", Unit::kText, &Row::name},
           {"peak_bytes",
            Unit::kBytes,
            bytes_of(&Row::at_peak),
            {2, "at the peak", held_cell(&Row::at_peak)}},
           {"peak_error_bytes", Unit::kBytes, error(&Row::at_peak)},
           {"allocated_bytes", Unit::kBytes, bytes_of(&Row::allocated), {3, "allocated"}},
           {"allocations",
            Unit::kCount,
            [](const Row& row) { return row.allocated.count; },
            {4, "times"}},
           {"frees", Unit::kCount, [](const Row& row) { return row.freed.count; }},
           {"freed_bytes", Unit::kBytes, bytes_of(&Row::freed)},
           {"held_bytes",
            Unit::kBytes,
            bytes_of(&Row::at_end),
            {5, "at the end", held_cell(&Row::at_end)}},
           {"held_error_bytes", Unit::kBytes, error(&Row::at_end)},
           {"", Unit::kShare, share, {1, "share"}}}};
}

double peak_of_groups(const std::vector<MemoryGroup>& groups) {
  double all = 0;
  for (const MemoryGroup& group : groups) all += group.at_peak.sum;
  return all;
}

}  // namespace

std::vector<MemoryGroup> memory_groups(const MemoryFacts& facts, const profile::CallTree& tree,
                                       GroupKey key) {
  MemoryGroups groups;
  if (key >= GroupKey::kThread) {
    add_memory_by_location(groups, facts, tree, key);
  } else {
    add_memory_by_region(groups, facts, tree, key);
  }
  std::vector<MemoryGroup> found = groups.take();
  std::ranges::stable_sort(found, holds_more);
  for (const MemoryRow& row : facts.rows) {
    if (row.apart == nullptr) continue;
    found.push_back({row.apart, row.allocated, row.freed, row.at_peak, row.at_end});
  }
  return found;
}

void write_memory_by(const std::vector<MemoryGroup>& groups, GroupKey key, const MemoryFacts& facts,
                     const Terminal& terminal, Output& output) {
  memory_group_table(key, facts.interval(), peak_of_groups(groups)).write(groups, terminal, output);
}

void write_memory_by_json(const std::vector<MemoryGroup>& groups, GroupKey key,
                          const MemoryFacts& facts, Output& output) {
  nlohmann::ordered_json all;
  all["format"] = "timeloom-report-memory-by";
  all["version"] = 1;
  all["by"] = by_word(key);
  if (!facts.functions.empty()) all["functions"] = facts.functions;
  all["rows"] = memory_group_table(key, facts.interval(), peak_of_groups(groups)).json(groups);
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
