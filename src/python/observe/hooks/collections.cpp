#include "python/observe/hooks/collections.hpp"

#include <atomic>
#include <exception>
#include <span>

#include "core/regions/collection_region.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// The list gc.callbacks, and our functions in it. Made once and kept: a collection may be going on.
PyObject* g_gc_callbacks = nullptr;
PyObject* g_first = nullptr;
PyObject* g_last = nullptr;
// Keys of the dict that callbacks get.
PyObject* g_generation = nullptr;
PyObject* g_collected = nullptr;

// The ids in the running measurement, by the rules in force. Used by callbacks alone: the
// interpreter starts no collection before the last one has stopped, on any thread.
struct CollectionIds {
  std::uint32_t measurement = 0;
  Py_ssize_t rules = -1;
  EventWord enter = kExcluded;
  ParameterId generation;
  MetricId collected;
};
CollectionIds g_ids;
std::atomic<bool> g_recorded = false;  // read by sub-interpreters

const CollectionIds& collection_ids() {
  const std::uint32_t measurement = record::measurement_number();
  if (g_ids.measurement == measurement && g_ids.rules == code_index()) return g_ids;
  CollectionIds ids{.measurement = measurement, .rules = code_index()};
  const Region region = collection_region();
  if (!excludes_c_function(region, "collect")) {
    ids.enter = record::enter_word(record::region_id(region));
    ids.generation = record::define_parameter("generation", ParameterType::kInt64);
    ids.collected = record::define_metric(kObjectsCollected, "objects", MetricValueType::kInt64);
  }
  return g_ids = ids;
}

std::uint64_t value_in(PyObject* info, PyObject* key) noexcept {
  PyObject* const value = PyDict_Check(info) ? PyDict_GetItemWithError(info, key) : nullptr;
  const long number = value == nullptr ? 0 : PyLong_AsLong(value);
  PyErr_Clear();
  return static_cast<std::uint64_t>(number);
}

void put_value(ExtendedKind kind, std::uint32_t id, std::uint64_t value) noexcept {
  const std::uint64_t words[] = {id, value};
  record::t_recorder->extended(kind, words);
}

void enter_collection(PyObject* info) {
  const CollectionIds& ids = collection_ids();
  if (!is_region(ids.enter)) return;
  // No function of Python's, and hidden with the calls of a function.
  const record::Token token = record::code_token(ids.enter);
  if (!record::recording()) return record::t_recorder->enter_unrecorded(token);
  if (!record::enter_region(token, ids.enter)) return;
  put_value(ExtendedKind::kParameterInt, ids.generation.value(), value_in(info, g_generation));
}

void leave_collection(PyObject* info) {
  const CollectionIds& ids = collection_ids();
  if (!is_region(ids.enter)) return;
  const record::Token token = record::code_token(ids.enter);
  if (!record::recording()) return record::t_recorder->leave_unrecorded(token);
  // It is not open if the callbacks came into the list, or the measurement began, meanwhile.
  if (record::t_recorder->innermost() == token) {
    put_value(ExtendedKind::kMetric, ids.collected.value(), value_in(info, g_collected));
  }
  record::t_recorder->leave(token);
}

// False: another one does, or the list is shorter. No exception is left.
bool lies_at(Py_ssize_t index, PyObject* function) noexcept {
  const Ref found(PySequence_GetItem(g_gc_callbacks, index));
  if (!found) PyErr_Clear();
  return found.get() == function;
}

// -1: it is not there. Without comparing, which the program's objects may answer.
Py_ssize_t place_among_callbacks(PyObject* function) noexcept {
  Py_ssize_t place = PyList_GET_SIZE(g_gc_callbacks) - 1;
  while (place >= 0 && !lies_at(place, function)) --place;
  return place;
}

void take_out(PyObject* function) noexcept {
  const Py_ssize_t place = place_among_callbacks(function);
  if (place >= 0 && PySequence_DelItem(g_gc_callbacks, place) != 0) PyErr_Clear();
}

// Moves our functions to the ends of the list, where the program has put others around them. While
// the interpreter goes through the list it is at the first: none is left out or called twice.
void keep_ends() noexcept {
  if (!lies_at(0, g_first)) {
    take_out(g_first);
    if (PyList_Insert(g_gc_callbacks, 0, g_first) != 0) PyErr_Clear();
  }
  if (!lies_at(-1, g_last)) {
    take_out(g_last);
    if (PyList_Append(g_gc_callbacks, g_last) != 0) PyErr_Clear();
  }
}

// The interpreter passes "start" or "stop", and a dict.
bool starts(PyObject* phase) noexcept {
  return PyUnicode_Check(phase) && PyUnicode_CompareWithASCIIString(phase, "start") == 0;
}

// Runs `function` if a measurement runs; without memory the event is not recorded.
PyObject* recorded_with(void (*function)(PyObject*), PyObject* info) noexcept {
  try {
    if (record::active()) function(info);
  } catch (const std::exception&) {
    PyErr_Clear();
  }
  return Py_NewRef(Py_None);
}

PyObject* first_callback(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !starts(arguments[0])) return Py_NewRef(Py_None);
  PyObject* const done = recorded_with(enter_collection, arguments[1]);
  keep_ends();
  return done;
}

PyObject* last_callback(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || starts(arguments[0])) return Py_NewRef(Py_None);
  return recorded_with(leave_collection, arguments[1]);
}

PyCFunction fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

PyMethodDef g_first_method = {"collection_starts", fast(first_callback), METH_FASTCALL, nullptr};
PyMethodDef g_last_method = {"collection_stops", fast(last_callback), METH_FASTCALL, nullptr};

// gc.callbacks, without leaving the module to a program that has not imported it.
PyObject* callbacks_of_interpreter() noexcept {
  PyObject* const modules = PyImport_GetModuleDict();
  const bool known = PyDict_GetItemString(modules, "gc") != nullptr;
  const Ref gc(PyImport_ImportModule("gc"));
  if (!gc) return nullptr;
  if (!known) (void)PyDict_DelItemString(modules, "gc");
  PyObject* const callbacks = PyObject_GetAttrString(gc.get(), "callbacks");
  if (callbacks == nullptr || PyList_CheckExact(callbacks)) return callbacks;
  Py_DECREF(callbacks);  // the program has put another object there
  return nullptr;
}

bool make_callbacks() noexcept {
  if (g_gc_callbacks != nullptr) return true;
  const Ref module(PyUnicode_FromString("timeloom"));
  g_generation = PyUnicode_InternFromString("generation");
  g_collected = PyUnicode_InternFromString("collected");
  g_first = PyCFunction_NewEx(&g_first_method, nullptr, module.get());
  g_last = PyCFunction_NewEx(&g_last_method, nullptr, module.get());
  const bool made =
      g_generation != nullptr && g_collected != nullptr && g_first != nullptr && g_last != nullptr;
  if (made) g_gc_callbacks = callbacks_of_interpreter();
  return g_gc_callbacks != nullptr;
}

}  // namespace

bool collections_recorded() noexcept { return g_recorded; }

static bool rules_admit_collections() noexcept try {
  return !excludes_c_function(collection_region(), "collect");
} catch (const std::exception&) {
  return false;  // no memory
}

void watch_collections() noexcept {
  const ErrorGuard guard;
  const Unobserved nothing_of_this;
  if (make_callbacks()) keep_ends();
  g_recorded = rules_admit_collections();
  PyErr_Clear();
}

void unwatch_collections() noexcept {
  g_recorded = false;
  if (g_gc_callbacks == nullptr) return;
  const ErrorGuard guard;
  take_out(g_first);
  take_out(g_last);
  PyErr_Clear();
}

}  // namespace timeloom::python
