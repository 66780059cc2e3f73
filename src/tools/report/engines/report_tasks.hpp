// `timeloom report --tasks`: the critical path through the tasks of an engine, the time that tasks
// spent in queues, and for what the workers waited.
//
// Plain functions. Throw Error when the output cannot be written; print_graph() also where the run
// has no trace or no tasks.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "tools/report/engines/task_graph.hpp"
#include "tools/report/engines/task_rows.hpp"
#include "tools/report/engines/task_transfers.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

struct TaskReport {
  TaskGraph graph;
  std::vector<TaskRow> names;          // of all tasks, a row for each prefix
  std::vector<TransferRow> transfers;  // a row for each worker that has fetched values
  SchedulerWork scheduler;             // from the start of the first task to the end of the last
  std::string engines;                 // their names, "Dask"
  std::vector<std::string> losses;     // sentences about the run, as in RunFacts
};

void write_graph(const TaskReport& report, const Terminal& terminal, Output& output);
void write_graph_json(const TaskReport& report, Output& output);

// To standard output. `chosen`: the threads that count.
void print_graph(const std::filesystem::path& run,
                 const std::function<std::set<LocationId>(const Definitions&)>& chosen, bool json,
                 ColourMode colour);

}  // namespace timeloom::tools
