// `timeloom report --by task` and `--by worker`: the tasks of engines by their prefix, or by the
// worker that ran them.
//
// Plain values made from a CallTree. Throw std::bad_alloc; write_tasks() and write_tasks_json()
// throw as Output does, too.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/measuring_cost.hpp"
#include "profile/call_tree.hpp"
#include "tools/report/report_by.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// Times in seconds, with the functions that the tasks called.
struct TaskRow {
  std::string name;
  std::uint64_t tasks = 0;  // each run of one
  double total = 0;
  double most = 0;  // the longest task
  double working = 0;
  double waiting = 0;
  // Of a worker: the transfers that have fetched values for it, and the sum of their times.
  std::uint64_t transfers = 0;
  double in_transfers = 0;
};

// `key`: kTask or kWorker. By their total time; `cost` is taken from the working time. A worker
// without a task has a row as well.
std::vector<TaskRow> task_rows(const profile::CallTree& tree, GroupKey key,
                               const std::set<LocationId>& locations,
                               const std::optional<CallCost>& cost = {});

// `losses`: sentences about the run, as in RunFacts.
void write_tasks(const std::vector<TaskRow>& rows, GroupKey key,
                 const std::vector<std::string>& losses, const Terminal& terminal, Output& output);
void write_tasks_json(const std::vector<TaskRow>& rows, GroupKey key,
                      const std::vector<std::string>& losses, Output& output);

}  // namespace timeloom::tools
