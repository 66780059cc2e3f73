// The part of SpoolSource that records in properties how the run went: losses, endings, costs.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

#include "core/engines/engine_regions.hpp"
#include "core/measuring_cost.hpp"
#include "core/mpi/mpi_rank.hpp"
#include "core/mpi/spawned.hpp"
#include "core/run_properties.hpp"
#include "core/teams/openmp_properties.hpp"
#include "core/throttled.hpp"
#include "core/waiting_metric.hpp"
#include "os/process.hpp"
#include "os/signal_name.hpp"
#include "spool/fork_handlers_property.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace {

constexpr char kStillRunning[] = "still running";
constexpr char kTerminated[] = "ended by SIGTERM";
constexpr char kWaited[] = "ended while it waited";
constexpr char kCutOff[] = "ended before the measurement could be finished";

std::string by_exit(const std::string& function, const spool::ProcessDefinitions& process) {
  return "ended by " + function + "(" + std::to_string(process.ending.value) + ")";
}

bool is_native(const spool::ProcessDefinitions& process) {
  const auto instrumenter = process.properties.find("timeloom::instrumenter");
  return instrumenter != process.properties.end() && instrumenter->second == "native";
}

// Shells end in this way when all is well.
std::string ending_by_c(const std::string& function, const spool::ProcessDefinitions& process) {
  return is_native(process) && process.ending.value == 0 ? "" : by_exit(function, process);
}

// In runs of earlier versions, kExit also stands for an exit called from C.
std::string ending_by_exit(const spool::ProcessDefinitions& process) {
  return is_native(process) ? ending_by_c("_exit", process) : by_exit("os._exit", process);
}

bool was_to_exit(EndingKind kind) {
  return kind == EndingKind::kExit || kind == EndingKind::kCExit || kind == EndingKind::kQuickExit;
}

std::string ending_by_status(int status) {
  if (WIFSIGNALED(status)) return "ended by " + os::signal_name(WTERMSIG(status));
  return "ended with exit status " + std::to_string(WEXITSTATUS(status));
}

// True if the main thread was waiting at the last look and has recorded nothing since: an event
// after that look would have been noted. Worker processes that another process ends from C, when
// all work is done, end like this.
bool waited_at_last(const spool::Reader& reader) {
  constexpr std::uint64_t kLeast = 100'000'000;  // nanoseconds
  const auto [at_event, seen] = reader.last_clocks(0);
  if (at_event.ticks == 0 || seen.ticks <= at_event.ticks || seen.wall <= at_event.wall)
    return false;
  const std::uint64_t passed = seen.wall - at_event.wall;
  return passed >= kLeast && seen.cpu - std::min(seen.cpu, at_event.cpu) < passed / 20;
}

}  // namespace

std::string SpoolSource::ending_of(const spool::ProcessDefinitions& process, bool running) {
  switch (process.ending.kind) {
    case EndingKind::kNone: break;
    case EndingKind::kExit: return ending_by_exit(process);
    case EndingKind::kCExit: return ending_by_c("_exit", process);
    case EndingKind::kQuickExit: return ending_by_c("quick_exit", process);
    case EndingKind::kMpiAbort:
      return "ended by MPI_Abort(" +
             std::to_string(static_cast<std::int32_t>(process.ending.value)) + ")";
    case EndingKind::kSignal:
      return "ended by " + os::signal_name(static_cast<int>(process.ending.value));
    case EndingKind::kRestricted:
      return "had forbidden itself calls of the system (seccomp) when it ended";
    case EndingKind::kExec: return "became another program (exec)";
  }
  if (process.ended) return {};
  return running ? kStillRunning : kCutOff;
}

std::optional<int> SpoolSource::reaped_status(const Process& parent, std::uint64_t child) {
  const auto& properties = parent.reader->definitions().properties;
  const auto found = properties.find(kReaped + std::to_string(child));
  if (found == properties.end()) return std::nullopt;
  return std::atoi(found->second.c_str());
}

// For ends that only the parent has seen: the cause may be C's _exit(), or an exec by then. A
// process that was about to exit may have been killed meanwhile.
void SpoolSource::add_reaped() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    LocationGroup& group = definitions_.groups[i];
    if (!group.creator.defined()) continue;
    const bool cut_off = group.ending == kCutOff;
    const bool exits = was_to_exit(processes_[i].reader->definitions().ending.kind);
    const auto status = reaped_status(processes_[group.creator.value()], group.process_id);
    if (status && (cut_off || (exits && WIFSIGNALED(*status)))) {
      group.ending = ending_by_status(*status);
    } else if (!cut_off) {
      continue;
    } else if (const std::string_view engine = engine_that_ends(group.name); !engine.empty()) {
      group.ending = "ended by " + std::string(engine);
    } else if (waited_at_last(*processes_[i].reader)) {
      group.ending = kWaited;
    }
  }
}

SpoolSource::TaskLocations SpoolSource::task_locations() const {
  TaskLocations count;
  for (const Process& process : processes_) {
    for (const auto& [index, thread] : process.reader->definitions().threads) {
      if (!thread.owner || thread.has_metrics) continue;
      ++count.all;
      const bool is_lane = tasks_on_lanes_ > 0 && is_task_lane(thread.name);
      if (is_lane || is_engine_lane(thread.name)) ++count.lanes;
    }
  }
  return count;
}

void SpoolSource::add_task_counts() {
  const TaskLocations locations = task_locations();
  const std::uint64_t tasks = tasks_on_lanes_ + locations.all - locations.lanes;
  if (tasks > 0) definitions_.properties[kTasks] = std::to_string(tasks);
  if (locations.lanes == 0) return;
  definitions_.properties[kTaskLanes] = std::to_string(locations.all);
}

// Keys in the table belong to single processes: a row with a function adds the values up, a row
// without one leaves them out of the run. A key that ends with _ is a prefix. All other keys become
// properties of the run.
void SpoolSource::take_property(const Process& process, const std::string& key,
                                const std::string& value) {
  struct Row {
    std::string_view key;
    void (*take)(SpoolSource& run, const Process& from, const std::string& text);
  };
  static constexpr Row kRows[] = {
      {kProcessCost, [](auto& run, auto& from, auto& text) { run.add_cost_of(from, text); }},
      {kThrottledIds,
       [](auto& run, auto& from, auto& text) { run.note_regions(from, text, run.throttled_); }},
      {kTruncatedIds,
       [](auto& run, auto& from, auto& text) { run.note_regions(from, text, run.truncated_); }},
      {kWindows,
       [](auto& run, auto&, auto& text) {
         run.windows_ = run.windows_.value_or(0) + rank_in(text).value_or(0);
       }},
      {kEventsLeftOut,
       [](auto& run, auto&, auto& text) { run.events_left_out_ += rank_in(text).value_or(0); }},
      {kObservedCpu,
       [](auto& run, auto&, auto& text) { run.observed_cpu_.push_back(observed_cpu_of(text)); }},
      {kResidentPeak,
       [](auto& run, auto&, auto& text) {
         const ResidentPeak one = resident_peak_of(text);
         if (one.peak > run.resident_.peak) run.resident_ = one;
       }},
      {kClockError,
       [](auto& run, auto&, auto& text) {
         const std::uint64_t error = std::strtoull(text.c_str(), nullptr, 10);
         run.clock_error_ns_ = std::max(run.clock_error_ns_, error);
       }},
      {kCpuTimes, [](auto& run, auto&, auto& text) { run.add_cpu(cpu_times_of(text)); }},
      {kOmpNumThreads,
       [](auto& run, auto& from, auto& text) { run.note_first(from, kOmpNumThreads, text); }},
      {kUsableCores,
       [](auto& run, auto& from, auto& text) { run.note_first(from, kUsableCores, text); }},
      {kRank, nullptr},
      {kPlainRank, nullptr},
      {kSpawn, nullptr},
      {kReaped, nullptr},
      {kForkHandlers, nullptr},
      {kMayBeLeftOut, nullptr},
  };
  const auto row = std::ranges::find_if(kRows, [&](const Row& one) {
    return one.key.ends_with('_') ? key.starts_with(one.key) : key == one.key;
  });
  if (row == std::end(kRows)) {
    definitions_.properties.try_emplace(key, value);
  } else if (row->take != nullptr) {
    row->take(*this, process, value);
  }
}

// Of the process that the user started: a program may set other values for its workers.
void SpoolSource::note_first(const Process& process, const char* key, const std::string& value) {
  if (&process == &processes_.front()) definitions_.properties.emplace(key, value);
}

void SpoolSource::take_names() {
  const auto take = [this](const char* key) {
    const auto found = definitions_.properties.extract(key);
    return found.empty() ? std::string() : found.mapped();
  };
  definitions_.machine_name = take(kMachineName);
  profile_name_ = take(kProfileBaseName);
  has_aliases_ = !take(kLocationNames).empty();
  packed_ = take(kTraceFormat) == kPackedTrace;
}

void SpoolSource::note_unnamed_code(const CodeRegions& code) {
  if (code.unnamed() == 0) return;
  definitions_.properties[kUnnamedCode] = std::to_string(code.unnamed());
  definitions_.properties[kUnnamedObjects] = code.unnamed_objects();
}

void SpoolSource::note_regions(const Process& process, const std::string& ids,
                               std::set<std::uint32_t>& noted) {
  for (const std::uint32_t id : ids_of(ids)) {
    const std::uint32_t in_run = process.ids.regions[id];
    if (in_run < definitions_.regions.size()) noted.insert(in_run);
  }
}

// Losses are recorded in the trace, under Timeloom's own names.
void SpoolSource::add_properties() {
  std::uint64_t bad_definitions = 0;
  for (const Process& process : processes_) bad_definitions += process.reader->damage().definitions;
  const auto put = [this](const char* key, std::uint64_t value) {
    if (value != 0) definitions_.properties[key] = std::to_string(value);
  };
  add_task_counts();
  if (windows_) definitions_.properties[kWindows] = std::to_string(*windows_);
  put("timeloom::lost_events", lost_events_);
  put("timeloom::older_events", older_events_);
  put(kAggregatedEvents, aggregated_events_);
  put(kEventsLeftOut, events_left_out_);
  put("timeloom::damaged_definitions", bad_definitions);
  put(kClockError, clock_error_ns_);
  put("timeloom::damaged_segments", damaged_segments_);
  put("timeloom::foreign_segments", foreign_segments_);
  add_gpu_properties();
  put(kUnnamedVisits, unnamed_visits_);
  put("timeloom::dropped_events", dropped_events_);
  put("timeloom::kept_rewinds", kept_rewinds_);
  put("timeloom::unreadable_spools", unreadable_spools_);
  const auto name = [this](const char* key, const std::set<std::uint32_t>& ids) {
    if (ids.empty()) return;
    std::vector<const Region*> regions;
    for (const std::uint32_t id : ids) regions.push_back(&definitions_.regions[id]);
    definitions_.properties[key] = throttled_text(regions);
  };
  name(kThrottled, throttled_);
  name(kTruncated, truncated_);
  if (std::string share = observed_share_text(observed_cpu_); !share.empty()) {
    definitions_.properties[kObservedShare] = std::move(share);
  }
  if (cpu_.known()) definitions_.properties[kCpuTimes] = to_text(cpu_);
  if (resident_.known()) definitions_.properties[kResidentPeak] = to_text(resident_);
  if (!native_threads_.empty()) {
    definitions_.properties[kNativeThreads] = to_text(native_threads_);
  }
  if (const std::string text = ending(); !text.empty()) {
    definitions_.properties["timeloom::ending"] = text;
  }
  if (!ended_) put("timeloom::closed_regions", closed_regions_);
}

// True if the events of all processes are there from start to end; a profile has none. Complete
// after replaying.
bool SpoolSource::is_whole() const {
  const std::uint64_t missing = lost_events_ + older_events_ + dropped_events_ +
                                aggregated_events_ + damaged_segments_ + unreadable_spools_ +
                                running_ + maybe_running_;
  return missing == 0 && ended_ && !windows_ && !profile_mode_;
}

// CPU time of the weave up to here, which is nearly all of it.
void SpoolSource::add_cost() {
  std::optional<MeasuringCost> cost = cost_.sum();
  if (!cost) return;
  cost->weave = static_cast<double>(os::process_cpu_ns() + conversions_cpu_ns_) * 1e-9;
  definitions_.properties[kRunCost] = to_text(*cost);
  if (const auto sound = measuring_cost_of(definitions_.properties)) {
    definitions_.properties[kOverhead] = std::to_string(shares_of(*sound).cpu);
  }
}

// Launchers end the other ranks of a job when one has ended. The first one that has ended in
// another way; nullptr: there is none.
const LocationGroup* SpoolSource::rank_that_ended_first() const {
  const Process* found = nullptr;
  for (const Process& process : processes_) {
    const std::string& ending = definitions_.groups[process.group.value()].ending;
    const bool is_cause = !ending.empty() && ending != kStillRunning && ending != kTerminated;
    if (!process.is_rank() || !is_cause) continue;
    if (found == nullptr || process.end < found->end) found = &process;
  }
  return found == nullptr ? nullptr : &definitions_.groups[found->group.value()];
}

// The ending of the run in words, from the records of its processes; empty: normal.
std::string SpoolSource::ending() const {
  const std::string& first = definitions_.groups.front().ending;
  if (first == kTerminated) {
    const LocationGroup* const cause = rank_that_ended_first();
    return (cause == nullptr ? "" : cause->name + " " + cause->ending + "; then others were ") +
           first;
  }
  if (!first.empty() && first != kStillRunning) return first;
  if (running_ > 0) {
    return std::to_string(running_) + (running_ == 1 ? " process" : " processes") +
           " still running; this is what they have recorded so far";
  }
  const auto cut_off = std::count_if(definitions_.groups.begin(), definitions_.groups.end(),
                                     [](const LocationGroup& g) { return g.ending == kCutOff; });
  if (cut_off == 0) return {};
  return std::to_string(cut_off) + (cut_off == 1 ? " child process " : " child processes ") +
         kCutOff;
}

}  // namespace timeloom::weave
