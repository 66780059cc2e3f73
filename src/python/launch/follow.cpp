#include "python/launch/follow.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "core/engines/engine_regions.hpp"
#include "core/error.hpp"
#include "core/mpi/spawned.hpp"
#include "core/run_properties.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/first_path.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/pending_call.hpp"
#include "python/interpreter/python_fork_handlers.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/launch/end/end_of_run.hpp"
#include "python/launch/measure.hpp"
#include "python/launch/plan/spawned_run.hpp"
#include "python/launch/preload.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/engine_functions.hpp"
#include "python/observe/threads/thread_names.hpp"
#include "python/session/last_fork_handler.hpp"
#include "python/session/process_end.hpp"
#include "python/session/session.hpp"
#include "python/session/session_window.hpp"
#include "python/session/worker_name.hpp"
#include "python/session/worker_places.hpp"
#include "record/fork_handlers.hpp"
#include "record/measurement.hpp"
#include "record/this_process.hpp"
#include "settings/inheritance.hpp"
#include "settings/launched_rank.hpp"
#include "settings/workers_setting.hpp"

namespace timeloom::python {
namespace {

namespace fs = std::filesystem;

// The inheritance of the forked children of a process that is not measured itself (the server
// of multiprocessing's method "forkserver"); null: there is none.
const Inheritance* g_of_children = nullptr;
PyObject* g_core = nullptr;
bool g_forked = false;
bool g_has_name_of_process = false;  // that multiprocessing has given

std::string child_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// RUN/spool of the spool RUN/spool/NAME; of one of a rank, RUN/spool/rank-N.
std::string directory_of(const std::string& spool) { return spool.substr(0, spool.rfind('/')); }

// RUN, which is to be what its process has told; throws Error for a path that is none of a spool.
KnownDirectory run_of(const std::string& spool) {
  const std::string run = run_of_spool(spool);
  if (run.empty()) throw Error("'" + spool + "' is not a spool of a run [TL074]");
  return {run, directory_id_in(child_variable(kRunIdVariable))};
}

// The directory of spools at that path, in the run.
KnownDirectory spools_at(const std::string& path, const KnownDirectory& run) {
  int error = 0;
  KnownDirectory spools = run.below(path.substr(run.path().size() + 1), &error);
  if (error != 0) throw Error("cannot open " + path + ": " + reason_of(error) + " [TL211]");
  return spools;
}

bool has_os() { return PyDict_GetItemString(PyImport_GetModuleDict(), "os") != nullptr; }

// os.environ, which tells the system of every change. Where nobody has imported
// `os` (python -S), its source, which does not; and `os` is not for us to import.
Ref environment() {
  const Ref module(PyImport_ImportModule(has_os() ? "os" : "posix"));
  return module ? Ref(PyObject_GetAttrString(module.get(), "environ")) : Ref{};
}

Ref text_for_environment(const std::string& text) {
  if (has_os()) return Ref(object_of(text));
  return Ref(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

bool set_variables(const std::string& spool) {
  return set_for_children(kRunIdVariable, timeloom::text_of(session_run().id())) &&
         set_for_children(kParentVariable, spool);
}

// The sys.path of sub-interpreters, which have it from the start of this process. `entry`: a str.
bool set_path_of_interpreters(PyObject* entry) {
  static bool set = false;
  if (std::exchange(set, true)) return true;
  wchar_t* const wide = PyUnicode_AsWideCharString(entry, nullptr);
  const bool added = wide != nullptr && timeloom_add_search_path(wide) == 0;
  PyMem_Free(wide);
  return added;
}

// Directories for children, and for sub-interpreters, that do not read our timeloom.pth.
bool set_path_of_children() {
  if (!has_os()) return true;
  const Ref module(PyImport_ImportModule("timeloom._children"));
  const Ref entry(module ? PyObject_CallMethod(module.get(), "extend_python_path", nullptr)
                         : nullptr);
  return entry && (entry.get() == Py_None || set_path_of_interpreters(entry.get()));
}

// `parent`: the spool of the process that started this one. `begun`: its CPU time when we began
// in it. False with a Python exception set.
bool start_followed(const Inheritance& inheritance, const std::string& parent,
                    std::uint64_t begun) {
  const KnownDirectory run = run_of(parent);
  return start_measurement(inheritance.settings, {.run = run.path(),
                                                  .id = run.id(),
                                                  .spools = directory_of(parent),
                                                  .program = inheritance.program,
                                                  .parent = parent.substr(parent.rfind('/') + 1),
                                                  .launched_cpu_ns = begun});
}

// A rank that MPI_Comm_spawn has started, whose run is its parents' run. False with a Python
// exception set.
bool start_spawned(Inheritance inheritance, const std::string& parent) {
  const Spawn spawn = spawn_in(child_variable(kSpawnVariable)).value_or(Spawn{});
  const std::optional<LaunchedRank> launched = launched_rank_of_this_process(environ);
  if (!launched || launched->size == 0 || spawn.number == 0) {
    throw Error("its rank among the spawned processes is not known [TL074]");
  }
  const auto planned =
      std::make_shared<SpawnedRun>(inheritance.settings, run_of(parent), spawn.number, *launched);
  planned->make();
  const std::string spools = planned->rank()->spools;
  inheritance.program.description.properties[kSpawn] = std::to_string(spawn.number);
  save(inheritance, spools_at(spools, planned->directory()));
  const fs::path way = fs::path(parent).lexically_relative(spools);
  return finish_run_at_exit(inheritance.settings, planned) &&
         start_measurement(inheritance.settings, {.run = planned->path(),
                                                  .id = planned->id(),
                                                  .spools = spools,
                                                  .program = inheritance.program,
                                                  .parent = way.string(),
                                                  .rank = launched->rank,
                                                  .launched_cpu_ns = begun_cpu_ns()});
}

// The state of a process that may be a worker, which threads use in a CriticalSection: the pattern
// of the setting `workers`; null: it is measured in any case, or left out.
const WorkerChoice* g_choice = nullptr;
std::string g_name_of_worker;
// The name that an engine has given this process in this measurement; a worker of Dask may be
// measured by one program after the other.
std::string& given_name() {
  static auto* const kName = new std::string;  // threads may outlive all else
  return *kName;
}
bool g_is_left_out = false;  // as soon as the main thread comes to it

bool matches_choice() { return g_choice == nullptr || g_choice->matches(g_name_of_worker); }

// For the weave, if the worker is killed before its place is decided.
void note_choice() { record::note_property(kMayBeLeftOut, matches_choice() ? "0" : "1"); }

void forget_choice() noexcept {
  const CriticalSection critical;
  g_on_new_code = nullptr;
  g_on_new_task = nullptr;
  g_before_exit = nullptr;
  g_choice = nullptr;
  g_is_left_out = false;
}

// Ends the measurement of a worker whose name does not match the setting `workers`, and removes its
// records. A measurement that the worker itself has begun goes on.
void leave_out_worker() noexcept try {
  forget_choice();
  if (!session_followed()) return;
  const ErrorGuard guard;
  const std::string spool = session_spool();
  const KnownDirectory spools = session_spools();
  SessionResult ignored;
  const bool ended = finish_measurement(ignored);
  PyErr_Clear();
  if (!ended) return;
  int error = 0;
  const os::Directory directory = spools.open(&error);
  if (directory.is_open()) (void)directory.remove_all(spool.substr(spool.rfind('/') + 1));
  note_left_out(spools);
} catch (const std::exception&) {
  return;  // its records are in the run
}

int leave_out_soon(void*) {
  leave_out_worker();
  return 0;
}

// The name of this worker is known, and does not change any more.
void decide_place() noexcept try {
  const CriticalSection critical;
  if (g_choice == nullptr) return;
  g_is_left_out = !matches_choice();
  g_choice = nullptr;
  g_on_new_task = nullptr;
  if (!g_is_left_out) g_before_exit = nullptr;
  if (g_is_left_out) (void)call_on_main_thread(leave_out_soon);  // at its end otherwise
} catch (const std::bad_alloc&) {
  return;
}

// Names that only workers of a pool have, which no other engine uses.
bool is_name_of_pool(const std::string& name) {
  return name.find("PoolWorker-") != std::string::npos || name.starts_with("LokyProcess-");
}

void take_name(const std::string& name, bool last) {
  const CriticalSection critical;
  record::rename_process(name);
  if (g_choice == nullptr) return;
  g_name_of_worker = name;
  note_choice();
  if (last) decide_place();
}

void look_for_name() noexcept;

// The first task: an engine has named the worker before it. Only an actor of Ray gets its name when
// its constructor has run.
void on_new_task(const std::string& engine, const std::string& prefix) noexcept {
  const bool constructs = prefix == "__init__" || prefix.ends_with(".__init__");
  if (engine == kRayGroup && constructs) return;
  look_for_name();
  decide_place();
}

bool is_left_out() noexcept {
  const CriticalSection critical;
  return g_is_left_out || !matches_choice();
}

void before_exit() noexcept try {
  look_for_name();
  if (is_left_out()) leave_out_worker();
} catch (const std::bad_alloc&) {
  return;  // its records are in the run
}

// Of a process that is measured, and may be a worker.
void wait_for_name(const Settings& settings) noexcept try {
  const CriticalSection critical;
  g_choice = nullptr;
  g_is_left_out = false;
  WorkerChoice choice = worker_choice_of(settings);
  if (!choice.pattern) return;
  g_name_of_worker.clear();
  g_choice = new WorkerChoice(std::move(choice));  // lives as long as the process
  note_choice();
  g_on_new_task = on_new_task;
  g_before_exit = before_exit;
} catch (const std::exception&) {
  return;  // somebody has changed the settings meanwhile
}

// The name that multiprocessing has given this process; false: none yet.
bool take_name_of_process() {
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "multiprocessing.process");
  if (module == nullptr) return false;
  const Ref process(PyObject_GetAttrString(module, "_current_process"));
  const Ref name(process ? PyObject_GetAttrString(process.get(), "_name") : nullptr);
  if (!name || !PyUnicode_Check(name.get())) return false;
  if (PyUnicode_CompareWithASCIIString(name.get(), "MainProcess") == 0) return false;
  const std::string text = bytes_of(name.get());
  take_name(text, is_name_of_pool(text));
  return true;
}

// A process is told its name by its parent or by an engine, without a word to anybody else: it is
// looked for until it is there. The name from an engine takes precedence over the name from
// multiprocessing.
void look_for_name() noexcept {
  thread_local bool looking = false;  // engines answer by code of Python, which is new, too
  if (looking || !session_running()) return;
  looking = true;
  const ErrorGuard guard;
  const CriticalSection critical;
  if (!g_has_name_of_process && !g_forked) g_has_name_of_process = take_name_of_process();
  PyErr_Clear();
  if (const std::optional<WorkerName> found = worker_name(g_forked)) {
    if (given_name() != found->name) take_name(given_name() = found->name, found->last);
    if (found->last) g_on_new_code = nullptr;
  }
  looking = false;
}

PyObject* name_process(PyObject*, PyObject*) {
  const ErrorGuard guard;
  (void)take_name_of_process();
  PyErr_Clear();
  return Py_NewRef(Py_None);
}

// multiprocessing calls name_process() in every child, when it has named it.
void ask_for_names(PyObject* core) {
  static bool asked = false;
  PyObject* util = PyDict_GetItemString(PyImport_GetModuleDict(), "multiprocessing.util");
  if (util == nullptr || asked) return;
  const record::KeepOff nothing_of_this;
  const Ref function(PyObject_GetAttrString(core, "_name_process"));
  const Ref done(function
                     ? PyObject_CallMethod(util, "register_after_fork", "OO", core, function.get())
                     : nullptr);
  asked = static_cast<bool>(done);
}

// The start of a worker of execnet, which pytest-xdist uses.
bool is_command_of_execnet() {
  PyObject* const words = PySys_GetObject("orig_argv");  // borrowed
  if (words == nullptr || !PyList_Check(words)) return false;
  for (const std::string& word : words_of(words)) {
    if (word.find("exec(eval(sys.stdin.readline()))") != std::string::npos) return true;
  }
  return false;
}

// follow(parent, role): `parent` is the path of the spool of the process that started this one;
// role is what this one was started for:
//   worker   of multiprocessing and the like
//   server   that forks such workers
//   spark    of Spark, as one of its workers
//   daemon   of Spark, that forks them
//   rank     MPI_Comm_spawn
//   program  anything else
PyObject* follow(PyObject* core, PyObject* arguments) {
  PyObject* parent = nullptr;
  const char* role = nullptr;
  if (!PyArg_ParseTuple(arguments, "Us", &parent, &role)) return nullptr;
  if (session_running()) Py_RETURN_NONE;  // timeloom.pth was read twice
  const std::string spool = bytes_of(parent);
  const Inheritance inheritance = load_inheritance(spools_at(directory_of(spool), run_of(spool)));
  load_wrappers(inheritance.settings);
  g_core = core;
  if (std::strcmp(role, "rank") == 0) {
    if (!start_spawned(inheritance, spool)) return nullptr;
    Py_RETURN_NONE;
  }
  const bool forks_for_spark = std::strcmp(role, "daemon") == 0;
  if (forks_for_spark || std::strcmp(role, "spark") == 0) become_spark_worker();
  if (forks_for_spark || std::strcmp(role, "server") == 0) {
    g_of_children = new Inheritance(inheritance);  // lives as long as the process
    record::remember_ancestors_for_children();     // the program is one
    Py_RETURN_NONE;
  }
  std::uint64_t begun = begun_cpu_ns();
  if (std::strcmp(role, "worker") == 0) {
    const std::uint64_t before = record::process_cpu_ns();
    if (!Ref(PyImport_ImportModule("multiprocessing.util"))) return nullptr;
    begun += record::process_cpu_ns() - before;  // the worker would import it itself
    ask_for_names(core);
    name_command("multiprocessing");
  } else if (is_command_of_execnet()) {
    name_command("execnet");
  }
  given_name().clear();
  if (!is_spark_worker()) g_on_new_code = look_for_name;
  if (!start_followed(inheritance, spool, begun) || !finish_child_at_exit()) return nullptr;
  if (std::strcmp(role, "program") != 0) wait_for_name(inheritance.settings);
  if (is_spark_worker()) take_name(kSparkWorker, true);
  Py_RETURN_NONE;
}

// The parent of the workers of a fork server is the process that started the server.
void start_in_child_of_server() try {
  const Ref variables = environment();
  const Ref parent(variables ? PyMapping_GetItemString(variables.get(), kParentVariable) : nullptr);
  if (!parent || !PyUnicode_Check(parent.get())) return;
  const std::uint64_t begun = record::process_cpu_ns();
  const Settings& settings = g_of_children->settings;
  const std::string spool = bytes_of(parent.get());
  if (settings.given(kSettings.workers) &&
      !takes_place(settings, spools_at(directory_of(spool), run_of(spool)))) {
    g_of_children = nullptr;
    return withdraw_from_children();
  }
  if (!start_followed(*g_of_children, spool, begun)) return;
  wait_for_name(settings);
  g_of_children = nullptr;
  if (is_spark_worker()) take_name(kSparkWorker, true);
} catch (const std::exception&) {
  return;  // the run is gone, or the variable names none
} catch (const PythonError&) {
  return;
}

}  // namespace

bool set_for_children(const char* child_variable, const std::string& value) {
  const Ref variables = environment();
  const Ref name = text_for_environment(child_variable);
  const Ref text = text_for_environment(value);
  return variables && name && text && ::setenv(child_variable, value.c_str(), 1) == 0 &&
         PyObject_SetItem(variables.get(), name.get(), text.get()) == 0;
}

void announce_to_children() noexcept try {
  const std::string spool = session_spool();
  const Inheritance inheritance = session_inheritance();
  if (inheritance.settings.text(kSettings.follow) == "none" || spool.empty()) return;
  const record::KeepOff nothing_of_this;
  const bool root = !session_followed();
  if (root) save(inheritance, spools_at(directory_of(spool), session_run()));
  if (!set_variables(spool) || (root && !set_path_of_children())) PyErr_Clear();
} catch (const std::exception&) {
  return;  // they are not measured
} catch (const PythonError&) {
  PyErr_Clear();
}

void withdraw_from_children() noexcept {
  const record::KeepOff nothing_of_this;
  const ErrorGuard guard;
  const Ref variables = environment();
  for (const char* one : {kParentVariable, kRunIdVariable}) {
    const Ref name = text_for_environment(one);
    ::unsetenv(one);
    if (variables && name && PyMapping_HasKey(variables.get(), name.get())) {
      (void)PyObject_DelItem(variables.get(), name.get());
    }
  }
  PyErr_Clear();
}

void resume_helpers_soon() noexcept {
  if (session_running()) call_after_fork<record::resume_helpers>();
}

void prepare_fork(PyObject* core) noexcept {
  note_fork();
  record::pause_helpers();
  pause_windows();
  const ErrorGuard guard;
  if (session_running() || g_of_children != nullptr) ask_for_names(core);
  const Ref handler(PyObject_GetAttrString(core, "_after_fork_handlers"));
  if (session_running() && handler) call_after_fork_handlers(handler.get());
  PyErr_Clear();
}

void end_fork_handlers() noexcept {
  if (!session_running()) return;
  update_thread_names();  // `threading` knows by now that this is the main thread
  record::fork_handlers_ran();
}

void look_for_name_at_end() noexcept {
  {
    const CriticalSection critical;
    if (g_on_new_code != nullptr) g_on_new_code();
  }
  if (auto* const leave = g_before_exit.load()) leave();
}

void follow_fork() noexcept {
  g_forked = true;
  const bool left_out = !continue_after_fork();
  if (session_running()) {
    g_on_new_code = look_for_name;
    if (!forks_for_exec()) wait_for_name(session_inheritance().settings);
  }
  if (session_running()) resume_windows();
  const ErrorGuard guard;
  if (g_of_children != nullptr) {
    start_in_child_of_server();
  } else if (const std::string spool = session_spool(); !spool.empty()) {
    const record::KeepOff nothing_of_this;
    (void)set_variables(spool);
  } else if (left_out) {
    withdraw_from_children();
  }
  PyErr_Clear();
  resume_helpers_soon();
}

PyMethodDef kFollowMethods[] = {
    {"follow", guarded<follow>, METH_VARARGS,
     "Go on measuring in a process that a measured one started."},
    {"_name_process", name_process, METH_O, "Called by multiprocessing in its children."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace timeloom::python
