#include "tools/report/report_by.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/throttled.hpp"
#include "core/waiting_metric.hpp"
#include "tools/report/answer_text.hpp"
#include "tools/report/report_text.hpp"
#include "tools/report/table/row_table.hpp"
#include "tools/report/threads/thread_times.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::string_view kWords[] = {"module", "package", "file", "thread", "process", "host"};

bool by_work(const GroupRow& a, const GroupRow& b) { return a.working > b.working; }

// By the names of regions. Time that is inside another function of the same group is not
// counted again.
std::vector<GroupRow> rows_of_regions(const profile::CallTree& tree, GroupKey key,
                                      const profile::LocationFilter& filter,
                                      const std::optional<CallCost>& cost) {
  const Answer answer(tree, filter, cost);
  const WorkTimes& times = answer.times();
  const ThrottledFunctions throttled(tree.definitions.properties);
  std::vector<GroupRow> rows;
  std::map<std::string, std::size_t> places;
  std::vector<std::size_t> place_of_region;
  for (std::uint32_t i = 0; i < tree.definitions.regions.size(); ++i) {
    const std::string name = group_name(tree.definitions, RegionId{i}, key, answer.owner());
    const auto [found, fresh] = places.try_emplace(name, rows.size());
    if (fresh) rows.push_back({.name = name});
    rows[found->second].project |= answer.owner().is_project(RegionId{i});
    place_of_region.push_back(found->second);
  }
  rows.push_back({.name = "(more call paths)"});
  std::vector<double> total = times.working;
  for (std::size_t i = total.size(); i-- > 0;) {
    if (tree.nodes[i].parent.defined()) total[tree.nodes[i].parent.value()] += total[i];
  }
  std::vector<std::uint32_t> open(rows.size());
  std::vector<std::size_t> way;
  std::vector<bool> seen(tree.definitions.regions.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const profile::Node& node = tree.nodes[i];
    for (; way.size() > node.depth; way.pop_back()) --open[way.back()];
    if (node.region.defined() && is_unmeasured(tree.definitions.regions[node.region.value()])) {
      continue;  // counts where it was called
    }
    const std::size_t place =
        node.region.defined() ? place_of_region[node.region.value()] : rows.size() - 1;
    GroupRow& row = rows[place];
    row.working += times.working[i];
    row.waiting += times.waiting[i];
    row.unmeasured += times.unmeasured[i];
    row.visits += times.visits[i];
    if (open[place]++ == 0) row.total += total[i];
    way.push_back(place);
    if (!node.region.defined() || seen[node.region.value()] || times.visits[i] == 0) continue;
    seen[node.region.value()] = true;
    ++row.functions;
    row.at_least |= throttled.holds(tree.definitions.regions[node.region.value()]);
  }
  return rows;
}

// By node: the project has a function on the way to it, or it is one.
std::vector<bool> paths_of_project(const profile::CallTree& tree) {
  const Answer answer(tree, {});
  const CodeOwner& owner = answer.owner();
  std::vector<bool> of_project;
  for (const profile::Node& node : tree.nodes) {
    const bool above = node.parent.defined() && of_project[node.parent.value()];
    of_project.push_back(above || owner.is_project(node.region));
  }
  return of_project;
}

bool is_idle(const WorkTimes& times, const std::vector<bool>& of_project) {
  double elsewhere = 0;
  for (std::size_t i = 0; i < times.waiting.size(); ++i) {
    if (!of_project[i]) elsewhere += times.waiting[i];
  }
  const double all = times.all_working + times.all_waiting + times.all_unmeasured;
  return had_nothing_to_do(times.all_working, times.all_waiting, elsewhere, all);
}

// `visits`: their heading. `rows`: all of them, which decide on the columns of the terminal.
RowTable<GroupRow> group_table(const std::vector<GroupRow>& rows, GroupKey key,
                               const char* visits) {
  double working = 0;
  for (const GroupRow& row : rows) working += row.working;
  const bool gap = std::ranges::any_of(rows, [](const auto& row) { return row.unmeasured > 0; });
  const std::size_t width = std::ranges::any_of(rows, &GroupRow::at_least) ? 10 : 7;
  const auto share = [working](const GroupRow& row) {
    return working == 0 ? 0 : row.working / std::abs(working);
  };
  const auto visits_cell = [](const GroupRow& row, const Terminal& terminal) {
    return visits_text(row.visits, row.at_least, terminal);
  };
  RowTable<GroupRow> table{
      std::string(by_word(key)),
      {{"name", Unit::kText, &GroupRow::name},
       {"working_s", Unit::kSeconds, &GroupRow::working, {2, "working"}},
       {"waiting_s", Unit::kSeconds, &GroupRow::waiting, {4, "waiting"}},
       {"unmeasured_s", Unit::kSeconds, &GroupRow::unmeasured, {gap ? 5U : 0U, "unmeasured"}},
       {"total_s", Unit::kSeconds, &GroupRow::total, {3, "  total"}},
       {visits, Unit::kCount, &GroupRow::visits, {6, pad_left(visits, width), visits_cell}},
       {"given_up", Unit::kText, &GroupRow::at_least},
       {"functions", Unit::kCount, &GroupRow::functions, {7, "functions"}},
       {"project", Unit::kText, &GroupRow::project},
       {"", Unit::kShare, share, {1, " share"}}}};
  if (key == GroupKey::kThread) table.columns.push_back({"idle", Unit::kText, &GroupRow::idle});
  return table;
}

std::vector<GroupRow> rows_of_locations(const profile::CallTree& tree, GroupKey key,
                                        const std::set<LocationId>& locations,
                                        const std::optional<CallCost>& cost) {
  const ThrottledFunctions throttled(tree.definitions.properties);
  const std::vector<bool> of_project =
      key == GroupKey::kThread ? paths_of_project(tree) : std::vector<bool>();
  std::vector<GroupRow> rows;
  std::map<std::string, std::size_t> places;  // of processes, by their numbers, and of hosts
  std::vector<std::vector<bool>> seen;        // regions of each row
  for (const Location& location : tree.definitions.locations) {
    if (!locations.contains(location.id)) continue;
    const std::uint32_t group = location.group.value();
    std::size_t place = rows.size();
    if (key != GroupKey::kThread) {
      const std::string which = key == GroupKey::kHost ? group_name(tree.definitions, location, key)
                                                       : std::to_string(group);
      place = places.try_emplace(which, place).first->second;
    }
    if (place == rows.size()) {
      seen.emplace_back(tree.definitions.regions.size());
      rows.emplace_back().name = group_name(tree.definitions, location, key);
    }
    const WorkTimes times = work_times(
        tree, [&](const Location& one) { return one.id == location.id; }, cost);
    GroupRow& row = rows[place];
    row.working += times.all_working;
    row.waiting += times.all_waiting;
    row.unmeasured += times.all_unmeasured;
    row.total = row.working + row.waiting + row.unmeasured;
    row.idle = key == GroupKey::kThread && is_idle(times, of_project);
    for (std::size_t i = 0; i < times.visits.size(); ++i) {
      row.visits += times.visits[i];
      const RegionId region = tree.nodes[i].region;
      if (!region.defined() || times.visits[i] == 0 || seen[place][region.value()]) continue;
      seen[place][region.value()] = true;
      ++row.functions;
      row.at_least |= throttled.holds(tree.definitions.regions[region.value()]);
    }
  }
  return rows;
}

}  // namespace

std::string_view by_word(GroupKey key) { return kWords[static_cast<std::size_t>(key)]; }

std::string group_name(const Definitions& definitions, RegionId region, GroupKey key,
                       const CodeOwner& owner) {
  if (owner.is_import(region)) return "importing modules";
  const Region& of = definitions.regions[region.value()];
  std::string name = key == GroupKey::kModule    ? of.group
                     : key == GroupKey::kPackage ? owner.package_of(region)
                                                 : of.file;
  if (name.empty() && key == GroupKey::kPackage) name = first_part(of.group);
  return name.empty() ? "(unknown)" : name;
}

std::string group_name(const Definitions& definitions, const Location& location, GroupKey key) {
  const std::uint32_t group = location.group.value();
  if (key == GroupKey::kThread) return location_name(location) + of_process(definitions, group);
  if (group >= definitions.groups.size()) return definitions.machine_name;
  const LocationGroup& process = definitions.groups[group];
  if (key == GroupKey::kProcess) return process.name;
  return process.hostname.empty() ? definitions.machine_name : process.hostname;
}

std::vector<GroupRow> group_rows(const profile::CallTree& tree, GroupKey key,
                                 const std::set<LocationId>& locations,
                                 const std::optional<CallCost>& cost) {
  const auto filter = [&](const Location& location) { return locations.contains(location.id); };
  std::vector<GroupRow> rows = key >= GroupKey::kThread
                                   ? rows_of_locations(tree, key, locations, cost)
                                   : rows_of_regions(tree, key, filter, cost);
  std::erase_if(rows, [](const GroupRow& row) { return row.visits == 0 && row.total == 0; });
  std::ranges::stable_sort(rows, by_work);
  std::stable_partition(rows.begin(), rows.end(), [](const GroupRow& row) { return !row.idle; });
  return rows;
}

void write_by(const std::vector<GroupRow>& rows, GroupKey key, const char* visits,
              const std::vector<std::string>& losses, const Terminal& terminal, Output& output) {
  write_losses(losses, terminal, output);
  const RowTable<GroupRow> table = group_table(rows, key, visits);
  output.write(terminal.paint(formatted("{}  {}\n", table.headings(), table.title), Ink::kDim));
  bool idle = false;
  for (const GroupRow& row : rows) {
    if (output.closed()) return;
    if (row.idle && !std::exchange(idle, true)) {
      output.write(terminal.paint("threads that had nothing to do:", Ink::kDim) + "\n");
    }
    AnswerLine line;
    line.numbers = table.numbers(row, terminal);
    line.name = printable(row.name);
    if (key == GroupKey::kFile) {
      const std::size_t room =
          terminal.width - std::min(terminal.width - 12, columns(line.numbers) + 2);
      line.name = shorten_path(line.name, room, terminal);
    }
    line.project = row.project;
    output.write(drawn(line, terminal));
  }
}

void write_by_json(const std::vector<GroupRow>& rows, GroupKey key, const char* visits,
                   const std::vector<std::string>& losses, Output& output) {
  nlohmann::ordered_json all;
  all["format"] = "timeloom-report-by";
  all["version"] = 1;
  all["by"] = by_word(key);
  all["losses"] = losses;
  all["rows"] = group_table(rows, key, visits).json(rows);
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
