#include "tools/report/engines/task_rows.hpp"

#include <algorithm>
#include <map>

#include "core/engines/engine_regions.hpp"
#include "profile/engine_counts.hpp"
#include "tools/report/report_text.hpp"
#include "tools/report/table/row_table.hpp"
#include "tools/report/work_times.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

using RowsByName = std::map<std::string, TaskRow>;

class TaskRows {
 public:
  TaskRows(const profile::CallTree& tree, const std::optional<CallCost>& cost)
      : tree_(tree), cost_(cost), tasks_(profile::tasks_of_nodes(tree)) {}

  // The tasks of the locations that `worker` runs, or of all: a row each prefix.
  void add(const std::set<LocationId>& locations, const std::string* worker) {
    const auto filter = [&](const Location& one) { return locations.contains(one.id); };
    const WorkTimes times = work_times(tree_, filter, cost_);
    const std::vector<profile::Totals> totals = profile::sum_locations(tree_, filter);
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      if (worker != nullptr && is_transfer(i)) {
        rows_[*worker].transfers += totals[i].visits;
        rows_[*worker].in_transfers += seconds(totals[i].inclusive, tree_.definitions);
      }
      if (!tasks_[i].defined()) continue;
      TaskRow& row = rows_[worker == nullptr ? name_of_task(i) : *worker];
      row.working += times.working[i];
      row.waiting += times.waiting[i];
      if (tree_.nodes[i].region != tasks_[i]) continue;
      row.tasks += totals[i].visits;
      row.total += seconds(totals[i].inclusive, tree_.definitions);
      row.most = std::max(row.most, seconds(totals[i].max, tree_.definitions));
    }
  }

  void add_worker(const std::string& worker) { rows_.try_emplace(worker); }

  std::vector<TaskRow> take() {
    std::vector<TaskRow> rows;
    for (auto& [name, row] : rows_) {
      row.name = name;
      rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, std::ranges::greater(), &TaskRow::total);
    return rows;
  }

 private:
  const std::string& name_of_task(std::size_t node) const {
    return tree_.definitions.regions[tasks_[node].value()].name;
  }

  bool is_transfer(std::size_t node) const {
    const RegionId region = tree_.nodes[node].region;
    return region.defined() && is_engine_transfer(tree_.definitions.regions[region.value()]);
  }

  const profile::CallTree& tree_;
  const std::optional<CallCost>& cost_;
  const std::vector<RegionId> tasks_;
  RowsByName rows_;
};

std::map<std::string, std::set<LocationId>> locations_of_workers(
    const profile::CallTree& tree, const std::set<LocationId>& locations) {
  const std::vector<std::string> names =
      profile::workers_of_locations(tree, profile::tasks_of_nodes(tree));
  std::map<std::string, std::set<LocationId>> workers;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const LocationId id = tree.definitions.locations[i].id;
    if (!names[i].empty() && locations.contains(id)) workers[names[i]].insert(id);
  }
  return workers;
}

const char* word_of(GroupKey key) { return key == GroupKey::kTask ? "task" : "worker"; }

// Without any, it is not known whether the engine would have recorded some.
bool has_transfers(const std::vector<TaskRow>& rows) {
  return std::ranges::any_of(rows, [](const TaskRow& row) { return row.transfers > 0; });
}

// `all`: seconds of all rows. `transfers`: the rows are workers, and have fetched values.
RowTable<TaskRow> task_table(double all, bool transfers) {
  const auto mean = [](const TaskRow& row) {
    return row.tasks == 0 ? 0 : row.total / static_cast<double>(row.tasks);
  };
  const auto share = [all](const TaskRow& row) { return all == 0 ? 0 : row.total / all; };
  RowTable<TaskRow> table{"",
                          {{"name", Unit::kText, &TaskRow::name},
                           {"tasks", Unit::kCount, &TaskRow::tasks, {3, "  tasks"}},
                           {"total_s", Unit::kSeconds, &TaskRow::total, {2, "  total"}},
                           {"mean_s", Unit::kSeconds, mean, {4, "   mean"}},
                           {"longest_s", Unit::kSeconds, &TaskRow::most, {5, "longest"}},
                           {"working_s", Unit::kSeconds, &TaskRow::working, {6, "working"}},
                           {"waiting_s", Unit::kSeconds, &TaskRow::waiting, {7, "waiting"}},
                           {"", Unit::kShare, share, {1, " share"}}}};
  if (!transfers) return table;
  table.columns.push_back({"transfers", Unit::kCount, &TaskRow::transfers});
  table.columns.push_back(
      {"transfers_total_s", Unit::kSeconds, &TaskRow::in_transfers, {8, "transfer"}});
  return table;
}

}  // namespace

std::vector<TaskRow> task_rows(const profile::CallTree& tree, GroupKey key,
                               const std::set<LocationId>& locations,
                               const std::optional<CallCost>& cost) {
  TaskRows rows(tree, cost);
  if (key == GroupKey::kTask) {
    rows.add(locations, nullptr);
  } else {
    for (const auto& [worker, own] : locations_of_workers(tree, locations)) {
      rows.add_worker(worker);
      rows.add(own, &worker);
    }
  }
  std::vector<TaskRow> all = rows.take();
  if (key == GroupKey::kTask) std::erase_if(all, [](const auto& row) { return row.tasks == 0; });
  return all;
}

void write_tasks(const std::vector<TaskRow>& rows, GroupKey key,
                 const std::vector<std::string>& losses, const Terminal& terminal, Output& output) {
  write_losses(losses, terminal, output);
  double all = 0;
  for (const TaskRow& row : rows) all += row.total;
  const RowTable<TaskRow> table = task_table(all, has_transfers(rows));
  output.write(terminal.paint(formatted("{}  {}\n", table.headings(), word_of(key)), Ink::kDim));
  table.write_lines(rows, terminal, output);
}

void write_tasks_json(const std::vector<TaskRow>& rows, GroupKey key,
                      const std::vector<std::string>& losses, Output& output) {
  nlohmann::ordered_json all;
  all["format"] = "timeloom-report-tasks";
  all["version"] = 1;
  all["by"] = word_of(key);
  all["losses"] = losses;
  all["rows"] = task_table(0, has_transfers(rows)).json(rows);
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
