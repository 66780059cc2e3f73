#include "python/observe/interpreters/sub_collections.hpp"

#include <exception>
#include <utility>

#include "core/regions/collection_region.hpp"
#include "python/interpreter/compat_frame.hpp"
#include "python/observe/hooks/collections.hpp"
#include "python/observe/interpreters/sub_interpreters.hpp"
#include "python/observe/interpreters/sub_state.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/measurement.hpp"
#include "record/native/native_call.hpp"

namespace timeloom::python {
namespace {

// Not the token of the interpreter's own region.
record::Token collection_token(const SubInterpreter& sub) noexcept {
  return reinterpret_cast<record::Token>(&sub.collection);
}

// The enter word, whose region is defined in the measurement that runs; 0: no memory.
EventWord collection_word(SubInterpreter& sub) noexcept try {
  const std::uint64_t number = record::measurement_number();
  if (sub.collection >> kTimeShift != number) {
    const EventWord word = record::enter_word(record::region_id(collection_region()));
    record::define(RegionId{payload_of(word)});
    sub.collection = number << kTimeShift | word;
  }
  return word_in(sub.collection);
} catch (const std::exception&) {
  return 0;
}

std::int64_t value_in(PyObject* info, const char* key) noexcept {
  PyObject* const value = PyDict_Check(info) ? PyDict_GetItemString(info, key) : nullptr;
  const long number = value == nullptr ? 0 : PyLong_AsLong(value);
  PyErr_Clear();
  return number;
}

bool starts(PyObject* phase) noexcept {
  return PyUnicode_Check(phase) && PyUnicode_CompareWithASCIIString(phase, "start") == 0;
}

// Collections at the end of the interpreter are in no function of it, and in no region of it.
bool records() noexcept {
  return sub_interpreters_observed() && record::active() &&
         current_frame(PyThreadState_Get()) != nullptr;
}

bool enter_collection(SubInterpreter& sub) noexcept {
  const EventWord word = collection_word(sub);
  const record::NativeCall call;
  record::ThreadRecorder* const recorder = call.recorder();
  if (word == 0 || recorder == nullptr || !record::recording()) return false;
  recorder->enter(collection_token(sub), word);
  return true;
}

void leave_collection(SubInterpreter& sub) noexcept {
  const record::NativeCall call;
  if (record::ThreadRecorder* const recorder = call.recorder(); recorder != nullptr) {
    if (record::recording()) recorder->leave(collection_token(sub));
  }
}

bool is_in_collection(SubInterpreter& sub) noexcept {
  const record::NativeCall call;
  const record::ThreadRecorder* const recorder = call.recorder();
  return recorder != nullptr && recorder->innermost() == collection_token(sub);
}

PyObject* first_callback(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !starts(arguments[0]) || !records()) return Py_NewRef(Py_None);
  SubInterpreter& sub = sub_interpreter_of(module);
  if (sub.joined && collections_recorded() && enter_collection(sub)) {
    timeloom_parameter_int("generation", value_in(arguments[1], "generation"));
  }
  return Py_NewRef(Py_None);
}

PyObject* last_callback(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || starts(arguments[0]) || !records()) return Py_NewRef(Py_None);
  SubInterpreter& sub = sub_interpreter_of(module);
  if (!is_in_collection(sub)) return Py_NewRef(Py_None);
  timeloom_counter_int(kObjectsCollected, value_in(arguments[1], "collected"), "objects");
  leave_collection(sub);
  return Py_NewRef(Py_None);
}

PyCFunction fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

PyMethodDef kFirst = {"collection_starts", fast(first_callback), METH_FASTCALL, nullptr};
PyMethodDef kLast = {"collection_stops", fast(last_callback), METH_FASTCALL, nullptr};

// gc.callbacks of this interpreter, which does not find the module loaded for it.
Ref callbacks() noexcept {
  PyObject* const modules = PyImport_GetModuleDict();
  const bool known = PyDict_GetItemString(modules, "gc") != nullptr;
  const Ref gc(PyImport_ImportModule("gc"));
  if (!gc) return {};
  if (!known) (void)PyDict_DelItemString(modules, "gc");
  Ref list(PyObject_GetAttrString(gc.get(), "callbacks"));
  return list && PyList_CheckExact(list.get()) ? std::move(list) : Ref();
}

// The last place of this function of ours; -1: it is not there.
Py_ssize_t place_of(const PyMethodDef& ours, PyObject* list) noexcept {
  Py_ssize_t place = PyList_GET_SIZE(list) - 1;
  const auto is_there = [&] {
    PyObject* const function = PyList_GET_ITEM(list, place);
    return PyCFunction_CheckExact(function) && PyCFunction_GET_FUNCTION(function) == ours.ml_meth;
  };
  while (place >= 0 && !is_there()) --place;
  return place;
}

// In the place of one that an earlier measurement has left there.
bool put_first(PyObject* list, PyObject* first) noexcept {
  const Py_ssize_t place = place_of(kFirst, list);
  if (place < 0) return PyList_Insert(list, 0, first) == 0;
  return PyList_SetItem(list, place, Py_NewRef(first)) == 0;
}

}  // namespace

void watch_collections_in_sub_interpreter(PyObject* module) noexcept {
  if (!collections_recorded()) return;
  const ErrorGuard guard;
  const Ref list = callbacks();
  const Ref first(list ? PyCFunction_New(&kFirst, module) : nullptr);
  const Ref last(first ? PyCFunction_New(&kLast, module) : nullptr);
  if (last && put_first(list.get(), first.get())) {
    (void)PyList_Append(list.get(), last.get());
  }
  PyErr_Clear();
}

void unwatch_collections_in_sub_interpreter() noexcept {
  const ErrorGuard guard;
  const Ref list = callbacks();
  const Py_ssize_t last = list ? place_of(kLast, list.get()) : -1;
  if (last >= 0) (void)PySequence_DelItem(list.get(), last);
  PyErr_Clear();
}

}  // namespace timeloom::python
