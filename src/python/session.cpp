#include "python/session.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/command_line.hpp"
#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "core/scorep_settings.hpp"
#include "python/calibration.hpp"
#include "python/code_regions.hpp"
#include "python/errors.hpp"
#include "python/free_threading.hpp"
#include "python/greenlets.hpp"
#include "python/instrumenter.hpp"
#include "python/process_end.hpp"
#include "python/reconcile.hpp"
#include "python/set_profile.hpp"
#include "python/tasks.hpp"
#include "python/thread_events.hpp"
#include "python/thread_names.hpp"
#include "python/window.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct Session {
  const Instrumenter* instrumenter = nullptr;  // nullptr: no session
  Watching what;
  bool paused = false;  // the user switched the automatic instrumentation off
  std::string run;
  std::uint64_t start_ns = 0;
  std::uint64_t process = 0;  // a forked child does not own its parent's session
  bool finishing = false;     // other threads may run while we calibrate
  SessionOptions options;
  std::string spool;  // its directory
  std::uint64_t passed_over_before = 0;
};
Session g_session;
constinit std::atomic<bool> g_watching = false;  // the instrumenter is installed

std::uint64_t this_process_id() noexcept { return static_cast<std::uint64_t>(::getpid()); }

std::string hostname() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::vector<std::string> strings_of(PyObject* list) {
  std::vector<std::string> result;
  if (list == nullptr || !PyList_Check(list)) return result;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* item = PyList_GET_ITEM(list, i);
    if (PyUnicode_Check(item)) result.push_back(text_of(item));
  }
  return result;
}

// What followed the name of the interpreter on the command line. Not sys.argv,
// which has no word of a module's name or the text of -c. The launcher has left
// there what the user would have written without it.
std::vector<std::string> command_words() {
  std::vector<std::string> words = strings_of(PySys_GetObject("orig_argv"));
  if (words.empty()) return strings_of(PySys_GetObject("argv"));  // python is embedded
  words.erase(words.begin());
  return words;
}

// Launchers of distributed programs (torchrun and those like it) tell each process so.
std::string rank_of_process() {
  const char* rank = std::getenv("RANK");
  const bool one_of_many = rank != nullptr && std::getenv("WORLD_SIZE") != nullptr;
  const bool number = one_of_many && *rank != '\0' &&
                      std::string_view(rank).find_first_not_of("0123456789") == std::string::npos;
  return number ? " rank " + std::string(rank) : std::string();
}

LocationGroup this_process() {
  LocationGroup process;
  process.hostname = hostname();
  process.process_id = this_process_id();
  PyObject* executable = PySys_GetObject("executable");  // borrowed
  if (executable != nullptr && PyUnicode_Check(executable))
    process.executable = text_of(executable);
  process.arguments = command_words();
  const std::vector<std::string> program = split_interpreter_start(process.arguments).program;
  const bool module = program.size() > 1 && program.front() == "-m";
  process.name = (program.empty() ? "Process" : program[module ? 1 : 0]) + rank_of_process();
  return process;
}

void make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) {
      throw Error("cannot create the run directory " + part + ": " + std::strerror(errno) +
                  "; choose another with --output");
    }
    if (end == std::string::npos) return;
  }
}

// An id of a process can come again, also in a run.
std::string free_spool(const std::string& run) {
  const std::string base = run + "/spool/" + std::to_string(this_process_id()) + "-";
  for (int i = 0;; ++i) {
    std::string directory = base + std::to_string(i);
    if (::access(directory.c_str(), F_OK) != 0) return directory;
  }
}

// What variables of Score-P say of the results; the launcher has checked them.
void as_scorep_says(record::StartOptions& options) {
  const ScorepSettings scorep(environ);
  options.properties["timeloom::layout"] = "scorep";
  options.properties[kMachineName] = scorep.text("SCOREP_MACHINE_NAME");
  options.properties[kProfileBaseName] = scorep.text("SCOREP_PROFILING_BASE_NAME");
  const std::string executable = scorep.text("SCOREP_EXECUTABLE");
  if (!executable.empty()) options.process.executable = executable;
  options.system_clock = scorep.text("SCOREP_TIMER") != "tsc";
}

record::StartOptions start_options(const SessionOptions& options,
                                   const Instrumenter& instrumenter) {
  make_directories(options.run + "/spool");
  record::StartOptions result;
  result.spool_directory = free_spool(options.run);
  result.writer.ring_size = options.profile ? result.writer.segment_size : options.buffer_size;
  result.writer.size_limit = {options.max_size, options.at_max_size};
  if (options.max_size != 0 && !options.profile) {
    // Most of what there is room for is for the log.
    constexpr std::uint64_t kLeast = 1 << 20;
    result.writer.ring_size = std::min(options.buffer_size, std::max(kLeast, options.max_size / 8));
  }
  result.process = this_process();
  result.parent = options.parent;
  result.profile = options.profile;
  result.max_depth = options.max_depth;
  result.metrics = options.metrics;
  result.profile_depth = options.profile_depth;
  if (options.profile_depth != 0) {
    result.properties[kProfileDepth] = std::to_string(options.profile_depth);
  }
  result.properties["timeloom::instrumenter"] = instrumenter.name;
  result.properties["timeloom::python"] = Py_GetVersion();
  if (!options.filter_file.empty())
    result.properties["timeloom::filter_file"] = options.filter_file;
  if (options.window.any()) result.properties["timeloom::window"] = describe(options.window);
  if (options.results != "all") result.properties["timeloom::results"] = options.results;
  if (options.experiment) as_scorep_says(result);
  return result;
}

bool watch(bool on) {
  Session& s = g_session;
  if (g_watching == on) return true;
  if (on && s.what.c_functions) hide_return_of_set_profile(nullptr);
  if (on && !s.instrumenter->install(s.what)) return false;
  if (!on) s.instrumenter->uninstall();
  g_watching = on;
  return true;
}

void fill(SessionResult& result, const record::Totals& totals, std::uint64_t end_ns) {
  const Session& s = g_session;
  result.run = s.run;
  result.instrumenter = s.instrumenter->name;
  result.events = totals.events;
  result.folded_events = totals.folded_events;
  result.profile = s.options.profile;
  result.threads = totals.threads;
  result.tasks = totals.tracks;
  result.bytes = totals.bytes;
  result.lost_events = totals.lost_events;
  result.dropped_events = totals.dropped_events;
  result.at_limit = totals.at_limit;
  result.unmatched_leaves = totals.unmatched_leaves;
  result.error = totals.error;
  result.window = describe(s.options.window);
  result.windows = windows_opened();
  result.wall_seconds = static_cast<double>(end_ns - s.start_ns) * 1e-9;
}

// As a share of the wall time, for who reads the run. Zero: it is not known.
void note_overhead(const SessionResult& result) {
  if (result.overhead_seconds == 0 || result.wall_seconds == 0) return;
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, result.overhead_seconds / result.wall_seconds);
  record::add_property(g_session.spool, "timeloom::overhead", {text, end.ptr});
}

// The program goes on when it cannot be observed any more.
void watch_again() {
  close_ended_regions();
  if (g_session.instrumenter->reports_every_leave) reconcile_all_threads();
  if (watch(true)) return;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const Ref owned_type(type), owned_value(value), owned_traceback(traceback);
  PySys_FormatStderr("timeloom: calls are not recorded from here on: %S\n", value);
}

// Those of the recording, or (`awaiting`) those under which nothing is recorded
// until the region of a window is entered. Watched functions are watched by rules
// that no measurement without them has used.
bool set_rules(const SessionOptions& options, bool awaiting) {
  if (!options.window.any()) return set_rules(options.rules);
  FilterChoices choices = options.rules.filter.choices();
  if (awaiting) choices.rules = {{false, "*"}};
  choices.rules.push_back({false, "\n" + describe(options.window)});  // matches nothing
  RegionRules rules = options.rules;
  rules.filter = Filter(std::move(choices));
  return set_rules(rules);
}

// True if it changed.
bool switch_recording(bool on) noexcept {
  bool changed = false;
  alone([&] { changed = record::set_recording(on); });
  return changed;
}

void open_window() {
  watch(false);
  set_rules(g_session.options, false);
  switch_recording(true);
  if (!g_session.paused) watch_again();
}

void close_window(bool awaits) {
  watch(false);
  switch_recording(false);
  if (!awaits) return;
  set_rules(g_session.options, true);
  if (!watch(true)) PyErr_Clear();
}

}  // namespace

std::string own_directory() {
  const Ref package(PyImport_ImportModule("timeloom"));
  const Ref file(package ? PyObject_GetAttrString(package.get(), "__file__") : nullptr);
  PyErr_Clear();
  if (!file || !PyUnicode_Check(file.get())) return {};
  const std::string path = text_of(file.get());
  return path.substr(0, path.rfind('/'));
}

bool session_running() noexcept {
  return g_session.instrumenter != nullptr && g_session.process == this_process_id();
}

namespace {

// Whether there may be events of which only the call paths are kept.
bool folds(const SessionOptions& options) noexcept {
  return options.profile || options.at_max_size == AtLimit::kFold;
}

}  // namespace

bool start_session(const SessionOptions& options) {
  const Exclusive exclusive;
  if (session_running()) {
    PyErr_SetString(g_error, "a measurement is already running in this process; finish it first");
    return false;
  }
  if (folds(options) && options.async_tasks) {
    PyErr_SetString(g_error, kTasksNeedTrace);
    return false;
  }
  const Watching what{.c_functions = options.c_functions, .tasks = options.async_tasks};
  const Instrumenter* instrumenter = find_instrumenter(options.instrumenter, what);
  if (instrumenter == nullptr) return false;
  if (!set_rules(options, true) || !set_rules(options, false)) {
    PyErr_SetString(
        g_error,
        "the interpreter has no room left to mark code objects: a process may use about 250 "
        "different filters; use the same ones again");
    return false;
  }
  install_thread_namer();
  watch_threads();
  std::string spool;
  try {
    const record::StartOptions start = start_options(options, *instrumenter);
    record::start(start);
    spool = start.spool_directory;
  } catch (const Error& error) {
    raise_error(error.what());
    return false;
  }
  g_session = {instrumenter,      what,  options.paused, options.run, record::monotonic_ns(),
               this_process_id(), false, options,        spool,       instrumenter->passed_over()};
  watch_process_end();
  const std::uint64_t start =
      options.program_start_ns != 0 ? options.program_start_ns : g_session.start_ns;
  const bool from_here = begin_windows(options.window, start, {open_window, close_window});
  if (!from_here) switch_recording(false);
  if (!from_here && !awaits_region()) return true;
  set_rules(options, awaits_region());
  if (options.paused || watch(true)) return true;
  end_windows();
  alone([] { record::stop(); });
  g_session = {};
  return false;
}

bool finish_session(SessionResult& result, Ending ending) {
  const Exclusive exclusive;
  Session& s = g_session;
  if (!session_running() || s.finishing) return false;
  s.finishing = true;
  const std::uint64_t end_ns = record::monotonic_ns();
  end_windows();
  watch(false);
  unhook_greenlets();
  update_thread_names();
  record::Totals totals;
  alone([&] { totals = record::stop(ending); });
  forget_tasks();
  forget_greenlets();
  unwatch_process_end();
  // Now, when what other threads do is not recorded any more.
  const bool last = ending.kind == EndingKind::kNone && s.options.parent.empty();
  const std::uint64_t passed_over = s.instrumenter->passed_over() - s.passed_over_before;
  const EventCost cost = last ? calibrate_events(*s.instrumenter) : EventCost{};
  fill(result, totals, end_ns);
  const double sample_seconds = last ? record::sample_seconds(s.options.metrics) : 0;
  result.overhead_seconds =
      (cost.event_seconds + sample_seconds) * static_cast<double>(totals.events) +
      cost.passed_over_seconds * static_cast<double>(passed_over);
  note_overhead(result);
  s = {};
  return true;
}

bool session_so_far(SessionResult& result) {
  const Exclusive exclusive;
  if (!session_running() || g_session.finishing) return false;
  record::Totals totals;
  alone([&] { totals = record::totals(); });
  fill(result, totals, record::monotonic_ns());
  return true;
}

bool pause_instrumentation() {
  const Exclusive exclusive;
  if (!session_running() || g_session.finishing || g_session.paused) return true;
  g_session.paused = true;
  return watch(false);
}

bool resume_instrumentation() {
  const Exclusive exclusive;
  if (!session_running() || g_session.finishing || !g_session.paused) return true;
  g_session.paused = false;
  if (record::recording()) watch_again();
  return true;
}

bool instrumentation_on() noexcept { return g_watching && g_session.instrumenter != &kDummy; }
bool instrumentation_paused() noexcept { return session_running() && g_session.paused; }

bool session_followed() noexcept { return session_running() && !g_session.options.parent.empty(); }

std::string session_spool() { return session_running() ? g_session.spool : std::string(); }

namespace {

void forget_session() {
  forget_tasks();
  forget_greenlets();
  unwatch_process_end();
  if (g_session.instrumenter != nullptr && g_watching) g_session.instrumenter->uninstall();
  g_watching = false;
  g_session = {};
}

// The hooks stay as they are; a small ring will do, which grows when it has to.
void start_after_fork() {
  constexpr std::uint64_t kChildBuffer = 1 << 20;
  Session& s = g_session;
  s.options.buffer_size = std::min(s.options.buffer_size, kChildBuffer);
  s.options.parent = s.spool.substr(s.spool.rfind('/') + 1);
  record::StartOptions start = start_options(s.options, *s.instrumenter);
  start.writer.drain_at_once = false;
  start.process.name += " (fork)";  // until it gets a name of its own
  forget_tasks();
  forget_greenlets();
  record::start_in_child(start);
  s.spool = start.spool_directory;
  s.start_ns = record::monotonic_ns();
  s.process = this_process_id();
}

}  // namespace

void continue_after_fork() noexcept {
  Session& s = g_session;
  if (s.instrumenter == nullptr) return;
  const ErrorGuard guard;
  // A run that is gone, e.g. with the directory of a test, wants no more events.
  const bool wanted =
      s.options.follow_forks && !s.finishing && ::access((s.run + "/spool").c_str(), W_OK) == 0;
  if (!wanted) return forget_session();
  try {
    start_after_fork();
  } catch (const std::exception& error) {
    PySys_FormatStderr("timeloom: the forked process %i is not recorded: %s\n",
                       static_cast<int>(::getpid()), error.what());
    forget_session();
  }
}

bool set_recording(bool on) {
  const Exclusive exclusive;
  if (!session_running() || g_session.finishing) return true;
  if (!on) {
    if (!record::recording()) return true;
    if (!watch(false)) return false;
    return switch_recording(false), true;
  }
  if (awaits_region()) watch(false);  // the program's own word goes before a window
  set_rules(g_session.options, false);
  if (!switch_recording(true)) return true;
  if (g_session.paused) {
    close_ended_regions();
  } else {
    watch_again();
  }
  return true;
}

}  // namespace timeloom::python
