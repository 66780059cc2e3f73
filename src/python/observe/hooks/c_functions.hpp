// Functions written in C, and the calls of them that are recorded.
//
// A C function is known by its definition, which mostly outlives its objects, and its name. The
// decision whether it is recorded is made once for all measurements with the same rules. What the
// running measurement has decided and defined is found by the address of the definition, in a table
// with one place for each address, so that a call costs a few loads. Definitions that extensions
// make at run time are not kept there, since another one may take the place of one that was freed.
//
// Needs the GIL, or on builds without one an attached thread state: these keep nothing in that
// table, which threads would share. Plain functions that do not throw.
#pragma once

#include <array>
#include <cstdint>

#include "python/observe/regions/code_regions.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {

// The definition of a C function; nullptr: `callable` is not one whose calls are recorded.
PyMethodDef* c_function_of(PyObject* callable) noexcept;
// The same for the two types that nearly all C functions have; nullptr also for other types.
inline PyMethodDef* plain_c_function(PyObject* callable) noexcept {
  if (Py_IS_TYPE(callable, &PyCFunction_Type))
    return reinterpret_cast<PyCFunctionObject*>(callable)->m_ml;
  if (Py_IS_TYPE(callable, &PyMethodDescr_Type))
    return reinterpret_cast<PyMethodDescrObject*>(callable)->d_method;
  return nullptr;
}
// The function that a method object calls; any other object itself. Borrowed.
PyObject* function_of_method(PyObject* callable) noexcept;

// The enter word of its region by the rules in force, which is not defined yet, or kExcluded. In
// any interpreter; may run the program's code, and other threads. Throws std::bad_alloc.
EventWord decide_c_function(PyMethodDef* method, PyObject* callable);
// Whether the end of a call is reported as well as its start; `arguments`: of a CALL event. A call
// is announced with the method object or, by later patch releases, with its function; the end names
// the function. f(*arguments) has no end where f is a method object; 3.11 reports nothing of it.
bool is_reported_whole(PyObject* const* arguments) noexcept;

// `caller`: the code object that calls it.
void enter_c_function(PyMethodDef* method, PyObject* callable, PyCodeObject* caller) noexcept;
// Leaves it if no other function is open inside it: not all calls that return were announced.
void leave_c_function(PyMethodDef* method, PyObject* callable) noexcept;
// Leaves the function with this token if no other one is open inside it, whatever user regions are.
void leave_innermost_function(record::ThreadRecorder& recorder, record::Token token) noexcept;
// Leaves the C function that `caller` has called last, if it is still open: it has returned without
// an event, since `caller` itself goes on.
void leave_returned_c_function(record::ThreadRecorder& recorder, PyCodeObject* caller) noexcept;

// A definition, and what code_regions.hpp keeps with a code object.
struct alignas(32) ReadyFunction {
  const PyMethodDef* method = nullptr;
  const char* name = nullptr;
  std::uint64_t kept = 0;
};
inline constexpr std::size_t kReadyFunctions = 1024;
[[gnu::visibility("hidden")]] extern std::array<ReadyFunction, kReadyFunctions> g_ready_functions;

// Definitions lie side by side, 32 bytes each.
inline ReadyFunction& ready_function(const PyMethodDef* method) noexcept {
  return g_ready_functions[reinterpret_cast<std::uintptr_t>(method) / sizeof(PyMethodDef) %
                           kReadyFunctions];
}
// True, and its enter word, or kExcluded: the running measurement can take it as it is.
inline bool ready_c_function(const PyMethodDef* method, EventWord* word) noexcept {
  if (!kHasGil) return false;
  const ReadyFunction& one = ready_function(method);
  return one.method == method && one.name == method->ml_name &&
         !__builtin_sub_overflow(one.kept, ready_from(), word);
}
// The token of a call of a function that is ready.
inline record::Token token_of_method(const PyMethodDef* method) noexcept {
  return reinterpret_cast<record::Token>(method);
}

}  // namespace timeloom::python
