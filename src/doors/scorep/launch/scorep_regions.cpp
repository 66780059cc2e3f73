// Regions as the Python bindings of Score-P have them: `user:name`, by call or by
// scorep.user.region, as version
// 4.5.1 does. Needs the GIL.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <set>
#include <string>

#include "doors/scorep/launch/scorep_regions.hpp"
#include "python/api/user_region.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct ScorepRegion {
  PyObject_HEAD PyObject* name;  // str; empty: the name of the function that it decorates
  UserRegionWord word;
};

ScorepRegion* scorep_region_of(PyObject* object) { return reinterpret_cast<ScorepRegion*>(object); }

PyTypeObject* g_scorep_region_type = nullptr;
PyObject* g_full_names = nullptr;  // dict: name -> "user:name"
PyObject* g_region_name = nullptr;

PyObject* name_must_be_str(PyObject* name) {
  PyErr_Format(PyExc_TypeError, "a name must be str, not %.100s", Py_TYPE(name)->tp_name);
  return nullptr;
}

Ref full_name(const char* group, PyObject* name) {
  return Ref(PyUnicode_FromFormat("%s:%U", group, name));
}

// The same for "user", made once for each name. Borrowed; null with an exception set.
PyObject* full_name(PyObject* name) {
  const CriticalSection critical;
  if (PyObject* known = PyDict_GetItemWithError(g_full_names, name)) return known;
  const Ref full = full_name("user", name);
  return full && PyDict_SetItem(g_full_names, name, full.get()) == 0 ? full.get() : nullptr;
}

EventWord scorep_region_word(ScorepRegion* region) noexcept {
  PyObject* full = full_name(region->name);
  if (full == nullptr) PyErr_Clear();
  return full == nullptr ? 0 : region->word.of(full);
}

// region(region_name=""); also @region without the parentheses.
PyObject* scorep_region_vectorcall(PyObject* type, PyObject* const* arguments, std::size_t flags,
                                   PyObject* keywords) {
  const Py_ssize_t given = PyVectorcall_NARGS(flags);
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  const bool known =
      named == 0 || PyUnicode_Compare(PyTuple_GET_ITEM(keywords, 0), g_region_name) == 0;
  if (given + named > 1 || !known) {
    PyErr_SetString(PyExc_TypeError, "region() takes one argument, region_name (a str)");
    return nullptr;
  }
  PyObject* name = given + named == 0 ? nullptr : arguments[0];
  if (name != nullptr && is_decorable(name)) return decorate(Py_None, name, true);
  if (name != nullptr && !PyUnicode_Check(name)) return name_must_be_str(name);
  auto* region = PyObject_New(ScorepRegion, reinterpret_cast<PyTypeObject*>(type));
  if (region == nullptr) return nullptr;
  region->name = name == nullptr ? PyUnicode_FromString("") : Py_NewRef(name);
  region->word = {};
  return reinterpret_cast<PyObject*>(region);
}

void scorep_region_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(scorep_region_of(self)->name);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* scorep_region_enter(PyObject* self, PyObject*) {
  if (PyUnicode_GET_LENGTH(scorep_region_of(self)->name) == 0) {
    PyErr_SetString(PyExc_RuntimeError, "A region name needs to be specified.");
    return nullptr;
  }
  if (record::active()) enter_user_region(scorep_region_word(scorep_region_of(self)));
  return Py_NewRef(self);
}

PyObject* scorep_region_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  if (record::active()) leave_own_user_region(scorep_region_word(scorep_region_of(self)));
  return Py_NewRef(Py_False);
}

PyObject* scorep_region_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  PyObject* const function = decorated_by(arguments, keywords);
  if (function == nullptr) return nullptr;
  PyObject* name = scorep_region_of(self)->name;
  if (PyUnicode_GET_LENGTH(name) == 0) return decorate(Py_None, function, true);
  PyObject* full = full_name(name);
  return full != nullptr ? decorate(full, function) : nullptr;
}

PyMethodDef kScorepRegionMethods[] = {
    {"__enter__", scorep_region_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(scorep_region_exit)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef kScorepRegionMembers[] = {
    {"region_name", T_OBJECT, offsetof(ScorepRegion, name), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot kScorepRegionSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(scorep_region_dealloc)},
    {Py_tp_call, reinterpret_cast<void*>(scorep_region_call)},
    {Py_tp_methods, kScorepRegionMethods},
    {Py_tp_members, kScorepRegionMembers},
    {Py_tp_doc, const_cast<char*>("region(region_name='')\n--\n\nThe user region "
                                  "user:<region_name>, for a with block or as a decorator; without "
                                  "a name it decorates a function, which is recorded once.")},
    {0, nullptr}};
PyType_Spec kScorepRegionSpec = {"scorep.user.region", sizeof(ScorepRegion), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 kScorepRegionSlots};

// scorep_begin(group, name, file_name=None, line_number=None)
PyObject* begin(PyObject*, PyObject* arguments) {
  const char* group = nullptr;
  PyObject *name = nullptr, *file = Py_None, *line = Py_None;
  if (!PyArg_ParseTuple(arguments, "sU|OO", &group, &name, &file, &line)) return nullptr;
  if (!record::active()) Py_RETURN_NONE;
  const Ref full = full_name(group, name);
  if (!full) return nullptr;
  if (file == Py_None || line == Py_None) {
    enter_user_region(user_region_word(full.get()));
    Py_RETURN_NONE;
  }
  const long number = PyLong_AsLong(line);
  if (number == -1 && PyErr_Occurred() != nullptr) return nullptr;
  const Ref text(PyObject_Str(file));
  if (!text) return nullptr;
  const auto first = static_cast<std::uint32_t>(std::max(0L, number));
  const SourceLines lines{absolute_file(utf8_text(text.get())), first, first};
  enter_user_region(user_region_word(full.get(), &lines));
  Py_RETURN_NONE;
}

// An end without a start: a region of its own shows it, and a line on stderr, once.
void record_error(PyObject* name) {
  static constinit std::atomic<bool> said = false;
  Region region;
  region.name = region.canonical_name = "error_region";
  region.group = "error";
  region.file = "scorep.cpp";
  region.paradigm = Paradigm::kUser;
  region.role = RegionRole::kFunction;
  if (record::recording()) {
    const EventWord word = record::enter_word(record::region_id(region));
    enter_user_region(word);
    const std::uint64_t parameter[] = {
        record::define_parameter("leave-region", ParameterType::kString).value(),
        record::define_string(utf8_text(name)).value()};
    record::t_recorder->extended(ExtendedKind::kParameterString, parameter);
    leave_user_region(word);
  }
  if (said.exchange(true)) return;
  PySys_WriteStderr(
      "SCOREP_BINDING_PYTHON ERROR: There was a region exit without an enter!\n"
      "SCOREP_BINDING_PYTHON ERROR: For details look for \"error_region\" in the trace or "
      "profile.\n");
}

// scorep_end(group, name)
PyObject* end(PyObject*, PyObject* arguments) {
  const char* group = nullptr;
  PyObject* name = nullptr;
  if (!PyArg_ParseTuple(arguments, "sU", &group, &name)) return nullptr;
  if (!record::active()) Py_RETURN_NONE;
  const Ref full = full_name(group, name);
  if (!full) return nullptr;
  if (knows_user_region(full.get())) {
    leave_user_region(user_region_word(full.get()));
  } else {
    record_error(full.get());
  }
  Py_RETURN_NONE;
}

// The names of rewinds that have begun, in this process. Used in a critical section.
std::set<std::string>& rewinds() {
  static auto* const kNames = new std::set<std::string>;
  return *kNames;
}

void note_rewind(const std::string& name) {
  const CriticalSection critical;
  rewinds().insert(name);
}

bool has_rewind(const std::string& name) {
  const CriticalSection critical;
  return rewinds().contains(name);
}

// rewind_begin(name)
PyObject* rewind_begin(PyObject*, PyObject* name) {
  if (!PyUnicode_Check(name)) return name_must_be_str(name);
  if (!record::recording()) Py_RETURN_NONE;
  const std::string text = utf8_text(name);
  note_rewind(text);
  const std::uint64_t words[] = {record::define_string(text).value()};
  record::t_recorder->extended(ExtendedKind::kRewindBegin, words);
  Py_RETURN_NONE;
}

// rewind_end(name, value)
PyObject* rewind_end(PyObject*, PyObject* arguments) {
  PyObject* name = nullptr;
  int discard = 0;
  if (!PyArg_ParseTuple(arguments, "Up", &name, &discard)) return nullptr;
  if (!record::recording()) Py_RETURN_NONE;
  const std::string text = utf8_text(name);
  if (!has_rewind(text)) {
    record_error(name);
    Py_RETURN_NONE;
  }
  const std::uint64_t words[] = {record::define_string(text).value(),
                                 static_cast<std::uint64_t>(discard)};
  record::t_recorder->extended(ExtendedKind::kRewindEnd, words);
  Py_RETURN_NONE;
}

// The name of a code object's region, whether instrumentation is on or off.
EventWord word_of_code(PyObject* code) noexcept {
  if (!PyCode_Check(code)) return 0;
  const EventWord word = known_word(reinterpret_cast<PyCodeObject*>(code));
  return is_region(word) ? word : 0;
}

PyObject* try_begin(PyObject*, PyObject* code) {
  const EventWord word = record::active() ? word_of_code(code) : 0;
  enter_user_region(word);
  return PyBool_FromLong(word != 0);
}

PyObject* try_end(PyObject*, PyObject* code) {
  const EventWord word = record::active() ? word_of_code(code) : 0;
  leave_user_region(word);
  return PyBool_FromLong(word != 0);
}

PyMethodDef kScorepFunctions[] = {
    {"rewind_begin", guarded<rewind_begin>, METH_O,
     "rewind_begin(name, /)\n--\n\nBegin a part of the trace that rewind_end() may discard."},
    {"rewind_end", guarded<rewind_end>, METH_VARARGS,
     "rewind_end(name, value, /)\n--\n\nEnd it; with a true value discard what this thread "
     "recorded "
     "since."},
    {"scorep_try_begin", try_begin, METH_O,
     "scorep_try_begin(code_object, /)\n--\n\nEnter the region of a code object; False: it is not "
     "known."},
    {"scorep_try_end", try_end, METH_O, "scorep_try_end(code_object, /)\n--\n\nLeave it."},
    {"scorep_begin", guarded<begin>, METH_VARARGS,
     "scorep_begin(group, name, file_name=None, line_number=None, /)\n--\n\nEnter group:name."},
    {"scorep_end", guarded<end>, METH_VARARGS,
     "scorep_end(group, name, /)\n--\n\nLeave group:name; one that nobody has entered is recorded "
     "as "
     "error_region."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int add_scorep_types(PyObject* module) {
  g_full_names = PyDict_New();
  g_region_name = PyUnicode_InternFromString("region_name");
  PyObject* type = PyType_FromSpec(&kScorepRegionSpec);
  if (g_full_names == nullptr || g_region_name == nullptr || type == nullptr) return -1;
  g_scorep_region_type = reinterpret_cast<PyTypeObject*>(type);
  g_scorep_region_type->tp_vectorcall = scorep_region_vectorcall;  // as timeloom.region does
  if (PyModule_AddObjectRef(module, "scorep_region", type) != 0) return -1;
  return PyModule_AddFunctions(module, kScorepFunctions);
}

}  // namespace timeloom::python
