#include "python/launch/follow.hpp"

#include <marshal.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "python/interpreter/errors.hpp"
#include "python/launch/end_of_run.hpp"
#include "python/launch/settings_binding.hpp"
#include "python/observe/code_regions.hpp"
#include "python/session/session.hpp"
#include "python/session/window.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

constexpr char kVariable[] = "TIMELOOM_PARENT";

// What to start in the forked children of a process that is not measured itself
// (the server of multiprocessing's method "forkserver"); nullptr: nothing.
PyObject* g_settings_of_children = nullptr;
PyObject* g_core = nullptr;

std::string settings_file(const std::string& spool) {
  return spool.substr(0, spool.rfind('/')) + "/settings";
}

bool write_settings(PyObject* settings, const std::string& path) {
  const Ref bytes(PyMarshal_WriteObjectToString(settings, Py_MARSHAL_VERSION));
  if (!bytes) return false;
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()));
  const bool written =
      file != nullptr && std::fwrite(PyBytes_AS_STRING(bytes.get()), 1, size, file) == size;
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return true;
  PyErr_Format(PyExc_OSError, "cannot write %s: %s", path.c_str(), std::strerror(errno));
  return false;
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

bool set_variable(const std::string& value) {
  const Ref variables = environment();
  const Ref name = text_for_environment(kVariable);
  const Ref text = text_for_environment(value);
  return variables && name && text && ::setenv(kVariable, value.c_str(), 1) == 0 &&
         PyObject_SetItem(variables.get(), name.get(), text.get()) == 0;
}

// PYTHONPATH for children whose Python does not read our timeloom.pth.
bool set_path_of_children() {
  if (!has_os()) return true;
  const Ref module(PyImport_ImportModule("timeloom_follow"));
  const Ref done(module ? PyObject_CallMethod(module.get(), "extend_python_path", nullptr)
                        : nullptr);
  return done && PyDict_DelItemString(PyImport_GetModuleDict(), "timeloom_follow") == 0;
}

bool follows(PyObject* settings, const char* which) {
  PyObject* value = PyDict_GetItemString(settings, "follow");  // borrowed
  return value != nullptr && PyUnicode_Check(value) &&
         PyUnicode_CompareWithASCIIString(value, which) == 0;
}

bool start_followed(PyObject* core, PyObject* settings, const std::string& parent) {
  const Ref name(object_of(parent.substr(parent.rfind('/') + 1)));
  return name && PyDict_SetItemString(settings, "parent", name.get()) == 0 &&
         Ref(PyObject_CallMethod(core, "start", "O", settings));
}

// The name that multiprocessing has given this process; false: none yet.
bool take_name_of_process() {
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "multiprocessing.process");
  if (module == nullptr) return false;
  const Ref process(PyObject_GetAttrString(module, "_current_process"));
  const Ref name(process ? PyObject_GetAttrString(process.get(), "_name") : nullptr);
  if (!name || !PyUnicode_Check(name.get())) return false;
  if (PyUnicode_CompareWithASCIIString(name.get(), "MainProcess") == 0) return false;
  record::rename_process(bytes_of(name.get()));
  return true;
}

// A spawned process is told its name by its parent, without a word to anybody else:
// it is looked for until it is there.
void look_for_name() noexcept {
  const ErrorGuard guard;
  if (session_running() && take_name_of_process()) g_on_new_code = nullptr;
  PyErr_Clear();
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

// follow(parent, settings, role): `parent` is the path of the spool of the process
// that started this one; role is what this one was started for:
//   worker   of multiprocessing and the like
//   server   that forks such workers
//   program  anything else
PyObject* follow(PyObject* core, PyObject* arguments) {
  PyObject *parent = nullptr, *settings = nullptr;
  const char* role = nullptr;
  if (!PyArg_ParseTuple(arguments, "UO!s", &parent, &PyDict_Type, &settings, &role)) return nullptr;
  if (session_running()) Py_RETURN_NONE;  // timeloom.pth was read twice
  g_core = core;
  if (std::strcmp(role, "server") == 0) {
    g_settings_of_children = Py_NewRef(settings);
    Py_RETURN_NONE;
  }
  if (std::strcmp(role, "worker") == 0) {
    if (!Ref(PyImport_ImportModule("multiprocessing.util"))) return nullptr;
    ask_for_names(core);
    g_on_new_code = look_for_name;
  }
  if (!start_followed(core, settings, bytes_of(parent)) || !finish_child_at_exit()) return nullptr;
  Py_RETURN_NONE;
}

// The parent of the workers of a fork server is the process that started the server.
void start_in_child_of_server() {
  const Ref variables = environment();
  const Ref parent(variables ? PyMapping_GetItemString(variables.get(), kVariable) : nullptr);
  if (!parent || !PyUnicode_Check(parent.get())) return;
  if (!start_followed(g_core, g_settings_of_children, bytes_of(parent.get()))) return;
  Py_CLEAR(g_settings_of_children);
}

}  // namespace

bool announce_to_children(PyObject* settings) {
  const std::string spool = session_spool();
  if (follows(settings, "none") || spool.empty()) return true;
  const record::KeepOff nothing_of_this;
  const bool root = PyDict_GetItemString(settings, "parent") == nullptr;
  if (root && !write_settings(settings, settings_file(spool))) return false;
  return set_variable(spool) && (!root || set_path_of_children());
}

void withdraw_from_children() noexcept {
  const record::KeepOff nothing_of_this;
  const ErrorGuard guard;
  const Ref variables = environment();
  const Ref name = text_for_environment(kVariable);
  ::unsetenv(kVariable);
  if (variables && name && PyMapping_HasKey(variables.get(), name.get())) {
    (void)PyObject_DelItem(variables.get(), name.get());
  }
  PyErr_Clear();
}

void prepare_fork(PyObject* core) noexcept {
  record::pause_helpers();
  pause_windows();
  const ErrorGuard guard;
  if (session_running() || g_settings_of_children != nullptr) ask_for_names(core);
  PyErr_Clear();
}

void follow_fork() noexcept {
  continue_after_fork();
  if (session_running()) resume_windows();
  const ErrorGuard guard;
  if (g_settings_of_children != nullptr) {
    start_in_child_of_server();
  } else if (const std::string spool = session_spool(); !spool.empty()) {
    const record::KeepOff nothing_of_this;
    (void)set_variable(spool);
  }
  PyErr_Clear();
}

PyMethodDef kFollowMethods[] = {
    {"follow", guarded<follow>, METH_VARARGS,
     "Go on measuring in a process that a measured one started."},
    {"_name_process", name_process, METH_O, "Called by multiprocessing in its children."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace timeloom::python
