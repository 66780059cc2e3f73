#include "python/session/session.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/text/message_id.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/observe/cost/budget.hpp"
#include "python/observe/cost/calibration.hpp"
#include "python/observe/cost/callback_times.hpp"
#include "python/observe/cost/instrumenter_pause.hpp"
#include "python/observe/engines/engine_tasks.hpp"
#include "python/observe/hooks/event_code.hpp"
#include "python/observe/hooks/instrumenter.hpp"
#include "python/observe/hooks/open_calls.hpp"
#include "python/observe/hooks/sampled_code.hpp"
#include "python/observe/hooks/unseen_calls.hpp"
#include "python/observe/interpreters/sub_counts.hpp"
#include "python/observe/interpreters/sub_interpreters.hpp"
#include "python/observe/locks/lock_recording.hpp"
#include "python/observe/memory/python_allocators.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/log_records.hpp"
#include "python/observe/tasks/greenlets.hpp"
#include "python/observe/tasks/tasks.hpp"
#include "python/observe/threads/thread_events.hpp"
#include "python/observe/threads/thread_names.hpp"
#include "python/session/native_switch.hpp"
#include "python/session/process_end.hpp"
#include "python/session/session_state.hpp"
#include "python/session/start_options.hpp"
#include "python/session/worker_places.hpp"
#include "record/fork_handlers.hpp"
#include "record/measurement.hpp"
#include "record/native/program_session.hpp"
#include "record/native/wrapper_interface.hpp"
#include "record/this_process.hpp"
#include "record/writer_options.hpp"
#include "sample/sampler.hpp"
#include "settings/sample_setting.hpp"
#include "settings/wrappers.hpp"

namespace timeloom::python {
namespace {

bool g_starting = false;  // other threads may run during calibration

void fill(SessionResult& result, std::uint64_t end_ns) {
  const Session& s = g_session;
  result.run = s.context.run;
  result.id = s.context.id;
  result.spool = s.spool;
  result.instrumenter = s.plan.instrumenter->name;
  result.profile = s.settings.flag(kSettings.profile);
  result.window = describe(s.plan.window);
  result.windows = windows_opened();
  result.left_out_events = events_left_out() - s.left_out_before;
  result.wall_seconds = static_cast<double>(end_ns - s.start_ns) * 1e-9;
}

// Notes the end for readers of the run.
void note_end(SessionResult& result) {
  record::add_property(kProcessCost, to_text(result.cost));
  if (!result.window.empty()) {
    record::add_property(kWindows, std::to_string(result.windows));
  }
  if (result.left_out_events > 0) {
    record::add_property(kEventsLeftOut, std::to_string(result.left_out_events));
  }
  CostSum sum;
  sum.add(result.cost);
  if (const auto total = sum.sum()) result.overhead = shares_of(*total);
}

// For handlers: turns the current exception into a Python exception. Returns false.
bool raised() try { throw; } catch (const Error& error) {
  raise_error(error.what());
  return false;
} catch (const PythonError&) {
  return false;
}

// Of samples that have ended in a program that was attached to, in which nothing is printed.
constinit std::atomic<const char*> g_end_of_samples = nullptr;

void keep_end_of_samples(const char* reason) noexcept { g_end_of_samples = reason; }

void note_end_of_samples() {
  const char* const reason = g_end_of_samples.exchange(nullptr);
  if (reason != nullptr) record::note_property(kSamplesEnded, reason);
}

// Called without the GIL, on any thread.
void print_end_of_samples(const char* reason) noexcept {
  std::fprintf(stderr, "%sno samples are taken from here on: %s [TL085]\n", line_start().c_str(),
               reason);
}

// As above.
void print_thread_without_samples(const char* reason) noexcept {
  std::fprintf(stderr, "%sa thread of the program cannot be sampled: %s [TL088]\n",
               line_start().c_str(), reason);
}

// Finds the functions for whose time samples are to stand; nullptr: there are none. Functions that
// are left out inside others, or for their depth, cannot be told from those that are not seen while
// the instrumenter is paused.
decltype(sample::SampleOptions::walk) walk_for_estimates(const Settings& settings,
                                                         const SessionPlan& plan) {
  if (!plan.overhead_limit) return nullptr;
  if (plan.instrumenter->pause == nullptr) return kHasMonitoring ? walk_throttled : nullptr;
  const bool leaves_out = !plan.rules.search.empty() || settings.given(kSettings.max_depth);
  return leaves_out ? nullptr : walk_unseen;
}

// The functions that are told of samples that end or are missing.
sample::SampleOptions sample_listeners(bool attached) {
  if (attached) return {.on_end = keep_end_of_samples};
  return {.on_end = print_end_of_samples, .on_failure = print_thread_without_samples};
}

// The program is recorded also where it cannot be sampled. `attached`: it has not asked for this,
// so that its output is left alone.
void sample_session(const Settings& settings, const SessionPlan& plan, bool attached) {
  const bool stacks = settings.flag(kSettings.sampling);
  g_end_of_samples = nullptr;                   // of an earlier measurement, or of the parent
  sample::pause_sampling(!watching_session());  // until the session watches
  auto* const walk = stacks ? walk_functions : walk_for_estimates(settings, plan);
  const bool estimated = walk != nullptr && !stacks;
  const std::uint64_t period =
      estimated ? estimate_period_of(settings) : sample_period_of(settings);
  sample::SampleOptions options = sample_listeners(attached);
  options.period_ns = period;
  options.signal = sample_signal_of(settings);
  options.walk = walk;
  options.line = line_of_region;
  const std::string reason = sample::start_sampling(options);
  const bool wanted = sample_period_of(settings) != 0;
  if (!reason.empty() && wanted) record::note_property(kNoSamples, reason);
  if (!reason.empty() && wanted && !attached) {
    print_line("no samples are taken: " + reason + " [TL086]");
  }
  if (!reason.empty() && !wanted && !attached) {
    print_line("the time of functions that are throttled is not estimated: " + reason + " [TL175]");
  }
  if (stacks) record::define_metric(kSampledTimeMetric, kSampledTimeUnit, MetricValueType::kUint64);
}

// Creates the spool and starts recording into it; throws Error.
void start_recording(Session& session) {
  const record::StartOptions start = start_options(session.settings, session.context, session.plan);
  record::start(start);
  sample_session(session.settings, session.plan, session.context.enters_open_calls);
  begin_definitions(false);
  session.spool = start.spool_directory;
  session.start_ns = record::monotonic_ns();
  session.process = this_process_id();
  if (session.context.program.start_ns == 0) session.context.program.start_ns = session.start_ns;
}

// Marks a session as starting, so that no other can start.
class Starting {
 public:
  Starting() {
    if (session_runs() || g_starting) {
      throw Error("a measurement is already running in this process; finish it first [TL051]");
    }
    g_starting = true;
  }
  ~Starting() { g_starting = false; }
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;
};

// Observes from here on, or from the start of the first window.
bool begin_observing(Session& session) {
  const bool from_here =
      begin_windows(session.plan.window, session.context.program.start_ns, kSessionWindows);
  if (!from_here) switch_recording(false);
  if (!from_here && !awaits_region()) return true;
  set_rules(session.plan, awaits_region());
  if (session.paused) return true;
  const bool enters =
      session.context.enters_open_calls && observes_calls(*session.plan.instrumenter);
  if (from_here && enters) enter_open_calls(session.context.innermost);
  session.plan.what.innermost = session.context.innermost;
  return watch(true);
}

void undo_hooks() {
  forget_locks();
  (void)unwatch_python_memory();
  admit_sub_interpreters({});
  record::on_switch_of_recording(nullptr);
  record::on_new_space(nullptr);
  stop_timing_callbacks();
  forget_tasks();
  forget_greenlets();
  unwatch_process_end();
}

// Ends a session that could not observe everything; the Python exception stays.
void give_up_start() {
  end_windows();
  unhook_greenlets();
  sample::stop_sampling();
  with_world_stopped([] { record::stop(); });
  undo_hooks();
  end_budget();
  g_session = {};
}

}  // namespace

bool change_session(const Settings& settings) try {
  const ControlLock control;
  const CriticalSection critical;
  if (!session_runs() || g_session.finishing) return true;
  SessionPlan plan = plan_session(settings, g_session.context.program.filter);
  const bool watched = watching_session();
  if (!watch(false)) return false;
  take_rules(plan);
  g_session.settings = settings;
  g_session.plan = std::move(plan);
  admit_sub_interpreters(sub_interpreters_of(g_session.plan));
  if (watched) watch_again();
  return true;
} catch (...) {
  return raised();
}

bool start_session(const Settings& settings, const SessionContext& context) try {
  const ControlLock control;
  const CriticalSection critical;
  const Starting starting;
  Session session{
      .settings = settings,
      .context = context,
      .plan = plan_session(settings, context.program.filter),
      .paused = settings.flag(kSettings.paused),
      .cpu = {.launched_ns = context.launched_cpu_ns, .begin_ns = record::process_cpu_ns()}};
  take_rules(session.plan);
  if (context.parent.empty()) print_calls_kept_from_hook(settings, *session.plan.instrumenter);
  const std::optional<double> limit = session.plan.overhead_limit;
  const EventCost calibrated =
      limit ? calibrate_events(*session.plan.instrumenter, UINT64_MAX) : EventCost{};
  const double metrics_seconds = limit ? record::sample_seconds(session.plan.metrics) : 0;
  record::end_program_session();
  install_thread_namer();
  watch_threads();
  watch_engines();
  watch_log_records(settings.text(kSettings.logging));
  start_recording(session);
  if (limit) {
    begin_budget(*limit, calibrated, *session.plan.instrumenter, metrics_seconds);
  }
  session.ignored_before = session.plan.instrumenter->ignored_callbacks();
  session.left_out_before = events_left_out();
  session.started = true;
  begin_sub_interpreter_count();
  g_session = std::move(session);
  admit_sub_interpreters(sub_interpreters_of(g_session.plan));
  watch_process_end();
  record::on_switch_of_recording(switch_for_native_code);
  (void)take_callback_times();  // left by a measurement that was given up
  record::on_new_space(time_callbacks);
  if (begin_observing(g_session)) {
    g_session.cpu.started_ns = record::process_cpu_ns();
    if (settings.flag(kSettings.locks)) watch_locks();
    if (settings.flag(kSettings.memory_python) && !watch_python_memory()) {
      print_line(
          "Python's objects are not counted: the wrapper library of memory is not loaded; start "
          "the program with timeloom run --memory-python [TL176]");
    }
    record::record_locks(settings.given(kSettings.thread_locks)
                             ? 1000 * settings.number(kSettings.thread_locks)
                             : record::kNoLocks);
    const bool each = settings.flag(kSettings.memory_events);
    record::know_all_blocks(settings.flag(kSettings.memory_all) || each);
    record::record_allocations(each);
    record::set_wrapping(!refuses_wrappers(g_session.settings));
    return true;
  }
  give_up_start();
  return false;
} catch (...) {
  return raised();
}

bool finish_session(SessionResult& result, Ending ending) {
  const ControlLock control;
  const CriticalSection critical;
  Session& s = g_session;
  if (!session_runs() || s.finishing) return false;
  s.finishing = true;
  record::set_wrapping(false);
  const std::uint64_t end_ns = record::monotonic_ns();
  s.cpu.end_ns = record::process_cpu_ns();
  end_windows();
  watch(false);
  unhook_greenlets();
  update_thread_names();
  unwatch_locks();
  if (!unwatch_python_memory()) {
    print_line(
        "the count of Python's objects ended early: the program has put back the allocators that "
        "were there before, as tracemalloc.stop() does [TL177]");
  }
  note_stretches();
  sample::stop_sampling();
  note_end_of_samples();
  record::Totals totals;
  with_world_stopped([&] {
    end_threads();
    totals = record::stop(ending);
    add_totals(result, totals);
  });
  undo_hooks();
  result.throttled = throttled_functions();
  result.observed_share = observed_share();
  end_budget();
  // Called here, where other threads no longer record.
  const bool last = ending.kind == EndingKind::kNone && s.context.parent.empty() &&
                    observes_calls(*s.plan.instrumenter);
  const std::uint64_t ignored = s.plan.instrumenter->ignored_callbacks() - s.ignored_before;
  const CallbackTimes in_program = take_callback_times();
  const Instrumenter& instrumenter = *s.plan.instrumenter;
  // The first call of a function takes the interpreter as long as dozens of events.
  const std::uint64_t events = totals.events + ignored + 50 * registrations().count;
  const EventCost cost = last ? slowed(calibrate_events(instrumenter, events), in_program,
                                       instrumenter, record::sample_seconds(s.plan.metrics))
                              : EventCost{};
  fill(result, end_ns);
  note_sub_interpreters(spools_of_session(), unasked_sub_interpreters());
  if (result.error == 0 && !record::has_spool(s.spool)) result.error = ENOENT;
  result.cost = cost_of(s.cpu, totals, cost, in_program, ignored, result.wall_seconds);
  note_end(result);
  s = {};
  return true;
}

void leave_session() {
  const ControlLock control;
  const CriticalSection critical;
  if (!session_runs()) return;
  record::set_wrapping(false);
  watch(false);
  undo_hooks();
  g_session = {};
}

bool session_so_far(SessionResult& result) {
  const ControlLock control;
  const CriticalSection critical;
  if (!session_runs() || g_session.finishing) return false;
  with_world_stopped([&] { add_totals(result, record::totals()); });
  fill(result, record::monotonic_ns());
  return true;
}

namespace {

void forget_session() {
  record::set_wrapping(false);
  undo_hooks();
  if (g_session.started && watching_session()) g_session.plan.instrumenter->uninstall();
  set_watching(false);
  end_budget();
  g_session = {};
}

// The hooks stay as they are.
void start_after_fork() {
  const std::uint64_t begin_ns = record::process_cpu_ns();
  Session& s = g_session;
  s.context.parent = s.spool.substr(s.spool.rfind('/') + 1);
  s.context.rank.reset();
  record::StartOptions start = start_options(s.settings, s.context, s.plan);
  start.writer = record::writer_options_of_child(start.writer);
  start.process.name += " (fork)";  // until it has its own name
  forget_tasks();
  forget_greenlets();
  record::start_in_child(start);
  sample_session(s.settings, s.plan, false);
  begin_definitions(true);
  if (s.plan.instrumenter == &kSampling) define_sampled_code();
  watch_locks_in_child();
  continue_budget();
  count_windows_of_child();
  begin_sub_interpreter_count_of_child();
  s.spool = start.spool_directory;
  s.start_ns = record::monotonic_ns();
  s.cpu = {.launched_ns = begin_ns, .begin_ns = begin_ns, .started_ns = record::process_cpu_ns()};
  (void)take_callback_times();  // the parent's, like the ignored ones
  s.ignored_before = s.plan.instrumenter->ignored_callbacks();
  s.process = this_process_id();
  s.left_out_before = events_left_out();
  note_fork_for_exec();
}

}  // namespace

bool continue_after_fork() noexcept {
  Session& s = g_session;
  if (!s.started) return true;
  const ErrorGuard guard;
  const bool wanted =
      s.settings.text(kSettings.follow) != "none" && !s.finishing && record::has_spool(s.spool);
  if (!wanted) return forget_session(), true;
  try {
    const bool asks = s.settings.given(kSettings.workers) && !forks_for_exec();
    if (asks && !takes_place(s.settings, spools_of_session())) return forget_session(), false;
    start_after_fork();
  } catch (const std::exception& error) {
    print_line("the forked process " + std::to_string(::getpid()) +
               " is not recorded: " + std::string(without_id(error.what())) + " [TL018]");
    forget_session();
  }
  return true;
}

}  // namespace timeloom::python
