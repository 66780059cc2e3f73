#include "python/session.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "python/calibration.hpp"
#include "python/code_regions.hpp"
#include "python/errors.hpp"
#include "python/instrumenter.hpp"
#include "python/reconcile.hpp"
#include "python/thread_names.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct Session {
  const Instrumenter* instrumenter = nullptr;  // nullptr: no session
  bool c_functions = false;
  bool watching = false;  // the instrumenter is installed
  bool paused = false;    // the user switched the automatic instrumentation off
  std::string run;
  std::uint64_t start_ns = 0;
  std::uint64_t process = 0;  // a forked child does not own its parent's session
  bool finishing = false;     // other threads may run while we calibrate
};
Session g_session;

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

LocationGroup this_process() {
  LocationGroup process;
  process.hostname = hostname();
  process.process_id = this_process_id();
  PyObject* executable = PySys_GetObject("executable");  // borrowed
  if (executable != nullptr && PyUnicode_Check(executable))
    process.executable = text_of(executable);
  process.arguments = strings_of(PySys_GetObject("argv"));
  process.name = process.arguments.empty() || process.arguments.front().empty()
                     ? "Process"
                     : process.arguments.front();
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

record::StartOptions start_options(const SessionOptions& options,
                                   const Instrumenter& instrumenter) {
  make_directories(options.run + "/spool");
  record::StartOptions result;
  const std::string base = options.run + "/spool/" + std::to_string(this_process_id()) + "-";
  for (int i = 0;; ++i) {
    result.spool_directory = base + std::to_string(i);
    if (::access(result.spool_directory.c_str(), F_OK) != 0) break;
  }
  result.writer.ring_size = options.buffer_size;
  result.process = this_process();
  result.properties["timeloom::instrumenter"] = instrumenter.name;
  result.properties["timeloom::python"] = Py_GetVersion();
  return result;
}

bool watch(bool on) {
  Session& s = g_session;
  if (s.watching == on) return true;
  if (on && !s.instrumenter->install(s.c_functions)) return false;
  if (!on) s.instrumenter->uninstall();
  s.watching = on;
  return true;
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

bool start_session(const SessionOptions& options) {
  if (session_running()) {
    PyErr_SetString(g_error, "a measurement is already running in this process; finish it first");
    return false;
  }
  const Instrumenter* instrumenter = find_instrumenter(options.instrumenter, options.c_functions);
  if (instrumenter == nullptr) return false;
  if (!set_filter(options.filter, options.own_directory)) {
    PyErr_SetString(
        g_error,
        "the interpreter has no room left to mark code objects: a process may use about 250 "
        "different filters; use the same ones again");
    return false;
  }
  install_thread_namer();
  try {
    record::start(start_options(options, *instrumenter));
  } catch (const Error& error) {
    raise_error(error.what());
    return false;
  }
  g_session = {instrumenter,           options.c_functions, false, false, options.run,
               record::monotonic_ns(), this_process_id(),   false};
  if (watch(true)) return true;
  record::stop();
  g_session = {};
  return false;
}

bool finish_session(SessionResult& result) {
  Session& s = g_session;
  if (!session_running() || s.finishing) return false;
  s.finishing = true;
  const std::uint64_t end_ns = record::monotonic_ns();
  watch(false);
  update_thread_names();
  const record::Totals totals = record::stop();
  // Now, when what other threads do is not recorded any more.
  const double event_cost = calibrate_event_seconds(*s.instrumenter);
  result.run = std::move(s.run);
  result.instrumenter = s.instrumenter->name;
  result.events = totals.events;
  result.threads = totals.threads;
  result.bytes = totals.bytes;
  result.lost_events = totals.lost_events;
  result.unmatched_leaves = totals.unmatched_leaves;
  result.error = totals.error;
  result.wall_seconds = static_cast<double>(end_ns - s.start_ns) * 1e-9;
  result.overhead_seconds = event_cost * static_cast<double>(totals.events);
  s = {};
  return true;
}

bool pause_instrumentation() {
  if (!session_running() || g_session.finishing || g_session.paused) return true;
  g_session.paused = true;
  return watch(false);
}

bool resume_instrumentation() {
  if (!session_running() || g_session.finishing || !g_session.paused) return true;
  g_session.paused = false;
  if (record::recording()) watch_again();
  return true;
}

bool instrumentation_on() noexcept { return session_running() && g_session.watching; }
bool instrumentation_paused() noexcept { return session_running() && g_session.paused; }

void forget_session_after_fork() noexcept {
  if (g_session.instrumenter != nullptr && g_session.watching) g_session.instrumenter->uninstall();
  g_session = {};
}

bool set_recording(bool on) {
  if (!session_running() || g_session.finishing || !record::set_recording(on)) return true;
  if (!on) return g_session.paused || watch(false);
  if (g_session.paused) {
    close_ended_regions();
  } else {
    watch_again();
  }
  return true;
}

}  // namespace timeloom::python
