#include "tools/report/engines/report_tasks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "profile/call_tree_sink.hpp"
#include "tools/report/answer_text.hpp"
#include "tools/report/engines/task_rows.hpp"
#include "tools/report/engines/task_scan.hpp"
#include "tools/report/report_text.hpp"
#include "tools/report/table/row_table.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "weave/run.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

namespace {

constexpr char kNeedsLeftOut[] =
    "tasks take more values than are kept: the critical path lacks some of them [TL481]";
constexpr std::size_t kSteps = 8;  // of the path, that are printed

using Reason = std::pair<const char*, double Gap::*>;
constexpr Reason kReasons[] = {{"no task", &Gap::no_task}, {"scheduler", &Gap::scheduler},
                               {"data", &Gap::data},       {"spilling", &Gap::spilling},
                               {"worker", &Gap::worker},   {"others", &Gap::others},
                               {"unknown", &Gap::unknown}};

struct Text {
  const Terminal& terminal;
  Output& output;

  std::string time(double seconds, std::size_t width = 7) const {
    return pad_left(duration(seconds, terminal), width);
  }
  void title(const std::string& text) const {
    output.write(terminal.paint(text, Ink::kDim) + "\n");
  }
  // With a blank line above.
  template <typename Row>
  void table(const RowTable<Row>& described, const std::vector<Row>& rows) const {
    title("\n" + described.headings() + "  " + described.title);
    described.write_lines(rows, terminal, output);
  }
  void row(const std::string& numbers, const std::string& name) const {
    AnswerLine line;
    line.numbers = numbers;
    line.name = printable(name);
    output.write(drawn(line, terminal));
  }
};

// Whether any of the rows has waited for it: other columns are not printed.
std::vector<Reason> reasons_of(const std::vector<WorkerRow>& workers) {
  std::vector<Reason> reasons;
  for (const Reason& reason : kReasons) {
    const auto has = [&](const WorkerRow& row) { return row.idle.*reason.second > 0; };
    if (std::ranges::any_of(workers, has)) reasons.push_back(reason);
  }
  return reasons;
}

nlohmann::ordered_json json_of(const Gap& gap) {
  return {{"no_task_s", gap.no_task},   {"scheduler_s", gap.scheduler}, {"data_s", gap.data},
          {"spilling_s", gap.spilling}, {"worker_s", gap.worker},       {"others_s", gap.others},
          {"unknown_s", gap.unknown}};
}

RowTable<WorkerRow> worker_table(const std::vector<WorkerRow>& workers) {
  RowTable<WorkerRow> table{
      "worker",
      {{"name", Unit::kText, &WorkerRow::name},
       {"threads", Unit::kCount, &WorkerRow::threads},
       {"tasks", Unit::kCount, &WorkerRow::tasks},
       {"in_tasks_s", Unit::kSeconds, &WorkerRow::in_tasks, {1, "in tasks"}},
       {"idle_s", Unit::kText, [](const WorkerRow& row) { return json_of(row.idle); }},
       {"", Unit::kSeconds, [](const WorkerRow& row) { return row.idle.sum(); }, {2, "   idle"}}}};
  for (const auto& [word, part] : reasons_of(workers)) {
    const auto time = [part = part](const WorkerRow& row) { return row.idle.*part; };
    table.columns.push_back({"", Unit::kSeconds, time, {3, pad_left(word, 9)}});
  }
  return table;
}

// `queues`: of the terminal.
RowTable<TaskRow> name_table(const std::map<std::string, QueueRow>& queues) {
  const auto mean = [](const auto& row) { return row.total / static_cast<double>(row.tasks); };
  const auto queue = [&queues](double QueueRow::*part) {
    return [queues, part](const TaskRow& row, const Terminal& terminal) {
      const auto found = queues.find(row.name);
      return found == queues.end() ? "-" : duration(found->second.*part, terminal);
    };
  };
  return {"task",
          {{"name", Unit::kText, &TaskRow::name},
           {"tasks", Unit::kCount, &TaskRow::tasks, {1, "  tasks"}},
           {"total_s", Unit::kSeconds, &TaskRow::total},
           {"", Unit::kSeconds, mean, {2, "   mean"}},
           {"longest_s", Unit::kSeconds, &TaskRow::most, {3, "longest"}},
           {"working_s", Unit::kSeconds, &TaskRow::working, {4, "working"}},
           {"waiting_s", Unit::kSeconds, &TaskRow::waiting, {5, "waiting"}},
           {"", Unit::kSeconds, {}, {6, " queued", queue(&QueueRow::queued)}},
           {"", Unit::kSeconds, {}, {7, "for data", queue(&QueueRow::fetched)}}}};
}

RowTable<QueueRow> queue_table() {
  return {"",
          {{"name", Unit::kText, &QueueRow::name},
           {"tasks", Unit::kCount, &QueueRow::tasks},
           {"queued_s", Unit::kSeconds, &QueueRow::queued},
           {"longest_s", Unit::kSeconds, &QueueRow::longest},
           {"fetched_s", Unit::kSeconds, &QueueRow::fetched}}};
}

RowTable<TransferRow> transfer_table() {
  return {"to worker",
          {{"worker", Unit::kText, &TransferRow::worker},
           {"transfers", Unit::kCount, &TransferRow::transfers, {1, "transfers"}},
           {"keys", Unit::kCount, &TransferRow::keys, {2, "   keys"}},
           {"bytes", Unit::kBytes, &TransferRow::bytes, {3, "   bytes"}},
           {"in_transfers_s", Unit::kSeconds, &TransferRow::any, {4, "   time"}},
           {"total_s", Unit::kSeconds, &TransferRow::total},
           {"longest_s", Unit::kSeconds, &TransferRow::longest, {5, "longest"}}}};
}

void write_head(const TaskGraph& graph, const std::vector<WorkerRow>& workers,
                const std::string& engines, const Text& text) {
  double in_tasks = 0, idle = 0;
  for (const WorkerRow& row : workers) {
    in_tasks += row.in_tasks;
    idle += row.idle.sum();
  }
  const double all = in_tasks + idle;
  text.output.write(formatted("{} on {} ({}) in {}; tasks are {} of the workers' time\n",
                              plural(graph.tasks().size(), "task"),
                              plural(workers.size(), "worker"), engines,
                              duration(graph.end() - graph.start(), text.terminal, " "),
                              percent(all > 0 ? in_tasks / all : 0)));
}

void write_path(const TaskGraph& graph, const Text& text) {
  const std::vector<PathRow> rows = graph.path_rows();
  double in_tasks = 0, before = 0;
  std::size_t tasks = 0;
  for (const PathRow& row : rows) {
    in_tasks += row.seconds;
    before += row.before;
    tasks += row.tasks;
  }
  const double length = std::max(graph.end() - graph.start(), 1e-12);
  text.output.write(formatted("\ncritical path: {} in {}, {} between them\n",
                              duration(in_tasks, text.terminal, " "), plural(tasks, "task"),
                              duration(before, text.terminal, " ")));
  text.title(" share    time   tasks  before  if twice as fast  task");
  for (const PathRow& row : rows) {
    const std::string gain = row.gained
                                 ? formatted("{} less {}", duration(*row.gained, text.terminal),
                                             pad_left("(" + percent(*row.gained / length) + ")", 7))
                                 : std::string();
    text.row(formatted("{} {} {} {} {}", pad_left(percent(row.seconds / length), 6),
                       text.time(row.seconds), pad_left(count(row.tasks), 7), text.time(row.before),
                       pad_left(gain, 18)),
             row.name);
  }
}

const char* word_of(After after) {
  switch (after) {
    case After::kValue: return "took its value";
    case After::kThread: return "same thread";
    case After::kAllOthers: return "after all others";
    default: return "first";
  }
}

// The largest part of a gap; empty: there is none.
const char* reason_of(const Gap& gap) {
  const auto part = [&](const Reason& reason) { return gap.*reason.second; };
  const auto most = std::ranges::max_element(kReasons, {}, part);
  return part(*most) > 0 ? most->first : "";
}

// A key that is the name and a long hash is told from others by the start of the hash.
std::string short_key(const TaskRun& task) {
  constexpr std::size_t kEnough = 9;  // of the hash, with the hyphen
  if (task.key.empty()) return task.name;
  const bool hashed = task.key.starts_with(task.name + "-") &&
                      task.key.find_first_of(" ('\"") == std::string::npos &&
                      task.key.size() > task.name.size() + 2 * kEnough;
  return hashed ? task.key.substr(0, task.name.size() + kEnough) + "..." : task.key;
}

void write_steps(const TaskGraph& graph, const Text& text) {
  const std::vector<std::size_t> path = graph.path();
  const std::size_t left_out = path.size() - std::min(path.size(), kSteps);
  text.title("\n before for          time  because           last tasks of the path");
  if (left_out > 0) text.row(pad_left("...", 7), plural(left_out, "task") + " before");
  for (std::size_t i = left_out; i < path.size(); ++i) {
    const TaskRun& task = graph.tasks()[path[i]];
    const Gap gap = graph.gap_of(path[i]);
    text.row(formatted("{} {} {}  {}", text.time(gap.sum()), pad_right(reason_of(gap), 9),
                       text.time(task.end - task.start),
                       pad_right(word_of(graph.link_of(path[i]).after), 16)),
             short_key(task));
  }
}

// The time in queues of the tasks of each name whose arrival is known.
std::map<std::string, QueueRow> queues_by_name(const TaskGraph& graph) {
  std::map<std::string, QueueRow> rows;
  for (QueueRow& row : graph.queues()) rows.emplace(row.name, std::move(row));
  return rows;
}

void write_scheduler(const TaskReport& report, const Text& text) {
  const SchedulerWork& work = report.scheduler;
  if (work.times == 0) return;
  const double length = std::max(report.graph.end() - report.graph.start(), 1e-12);
  text.output.write(
      formatted("the scheduler was busy for {} ({} of the time), {} at most at once\n",
                duration(work.busy, text.terminal, " "), percent(work.busy / length),
                duration(work.longest, text.terminal, " ")));
}

// The parts that the run does not have, in words.
void write_missing(const TaskGraph& graph, const Text& text) {
  const auto queued = std::ranges::count_if(
      graph.tasks(), [](const TaskRun& task) { return task.queued.has_value(); });
  const auto missing = graph.tasks().size() - static_cast<std::size_t>(queued);
  if (missing > 0) {
    text.title("\nthe time in the queue is not known of " + plural(missing, "task"));
  }
  if (graph.backwards() > 0) {
    text.title(std::string(missing > 0 ? "" : "\n") + "clocks differ by " +
               duration(graph.backwards(), text.terminal, " ") +
               " or more: a task seems to start before a value that it takes was made");
  }
  if (graph.has_needs()) return;
  text.title(std::string(missing > 0 ? "" : "\n") +
             "no task is known to take another's value: the path has the tasks of a thread one "
             "after the other");
}

nlohmann::ordered_json path_json(const TaskGraph& graph) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::size_t i : graph.path()) {
    const TaskRun& task = graph.tasks()[i];
    all.push_back({{"key", task.key},
                   {"name", task.name},
                   {"worker", task.worker},
                   {"start_s", task.start},
                   {"end_s", task.end},
                   {"because", word_of(graph.link_of(i).after)},
                   {"before_s", json_of(graph.gap_of(i))}});
  }
  return all;
}

nlohmann::ordered_json rows_json(const TaskGraph& graph) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const PathRow& row : graph.path_rows()) {
    all.push_back({{"name", row.name},
                   {"tasks", row.tasks},
                   {"total_s", row.seconds},
                   {"before_s", row.before}});
    if (row.gained) all.back()["gained_if_halved_s"] = *row.gained;
  }
  return all;
}

}  // namespace

void write_graph(const TaskReport& report, const Terminal& terminal, Output& output) {
  const Text text{terminal, output};
  const TaskGraph& graph = report.graph;
  const std::vector<WorkerRow> workers = graph.workers();
  write_losses(report.losses, terminal, output);
  write_head(graph, workers, report.engines, text);
  write_scheduler(report, text);
  write_path(graph, text);
  write_steps(graph, text);
  const std::map<std::string, QueueRow> queues = queues_by_name(graph);
  text.table(name_table(queues), report.names);
  text.table(worker_table(workers), workers);
  if (!report.transfers.empty()) text.table(transfer_table(), report.transfers);
  write_missing(graph, text);
}

void write_graph_json(const TaskReport& report, Output& output) {
  const TaskGraph& graph = report.graph;
  nlohmann::ordered_json all = {{"format", "timeloom-report-task-graph"}, {"version", 1}};
  all["losses"] = report.losses;
  all["tasks"] = graph.tasks().size();
  all["start_s"] = graph.start();
  all["end_s"] = graph.end();
  all["has_needs"] = graph.has_needs();
  all["clock_error_s"] = graph.backwards();
  all["path"] = path_json(graph);
  all["path_rows"] = rows_json(graph);
  all["names"] = name_table({}).json(report.names);
  all["queues"] = queue_table().json(graph.queues());
  all["workers"] = worker_table({}).json(graph.workers());
  if (report.scheduler.times > 0) {
    all["scheduler"] = {{"times", report.scheduler.times},
                        {"busy_s", report.scheduler.busy},
                        {"longest_s", report.scheduler.longest}};
  }
  all["transfers"] = transfer_table().json(report.transfers);
  output.write(json_text(all, 2) + "\n");
}

void print_graph(const std::filesystem::path& run,
                 const std::function<std::set<LocationId>(const Definitions&)>& chosen, bool json,
                 ColourMode colour) {
  if (!weave::has_trace(run)) {
    throw Error(run.string() +
                " has a profile and no trace, so the times of its tasks are not known; timeloom "
                "run without --profile makes a trace, report --by task prints the sums [TL476]");
  }
  const std::unique_ptr<RunSource> source = weave::open_trace(weave::trace_of(run));
  TaskScan scan(chosen(source->definitions()));
  // The rows of names come from the same events as the graph: the profile may have more, such as
  // the calls behind the size limit of the run.
  profile::CallTreeSink paths;
  const std::array<RunSink*, 2> sinks = {&scan, &paths};
  source->replay(sinks, std::max(1u, std::thread::hardware_concurrency()));
  TaskReport report{scan.take_graph(),
                    {},
                    transfer_rows(scan.take_transfers()),
                    {},
                    scan.engines(),
                    facts_of(source->definitions()).losses};
  if (report.graph.tasks().empty()) {
    throw Error(run.string() +
                " has no tasks of an engine; docs/engines.md lists the engines [TL470]");
  }
  report.scheduler = scheduler_work(scan.scheduling(), report.graph.start(), report.graph.end());
  if (!scan.is_complete()) report.losses.emplace_back(kNeedsLeftOut);
  const profile::CallTree tree = paths.take();
  report.names = task_rows(tree, GroupKey::kTask, chosen(tree.definitions));
  Output output;
  json ? write_graph_json(report, output) : write_graph(report, Terminal::detect(colour), output);
  output.flush();
}

}  // namespace timeloom::tools
