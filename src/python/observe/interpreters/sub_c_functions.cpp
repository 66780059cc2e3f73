#include "python/observe/interpreters/sub_c_functions.hpp"

#include <cstring>
#include <exception>
#include <memory>
#include <unordered_map>
#include <utility>

#include "python/interpreter/free_threading.hpp"
#include "python/observe/hooks/c_functions.hpp"
#include "python/observe/hooks/event_code.hpp"
#include "python/observe/interpreters/sub_regions.hpp"
#include "record/measurement.hpp"
#include "record/native/native_call.hpp"

namespace timeloom::python {

struct SubCFunctions {
  struct Known {
    std::string name;        // an extension may make another definition at the same address
    std::uint64_t kept = 0;  // as a code object keeps its word
  };
  Py_ssize_t rules = -1;  // the index at which code objects keep what these rules decide
  std::unordered_map<const void*, Known> by_address;
};

namespace {

struct Called {
  PyMethodDef* method;
  PyObject* function;  // borrowed
  // Distinguish functions: their definition, or the class for the __new__ that classes share. The
  // name tells a new one from a freed one at the same address.
  const void* address;
  const char* name;
};

// `method` is nullptr: not a C function whose calls are recorded.
Called called_by(PyObject* callable) noexcept {
  PyObject* const function = function_of_method(callable);
  PyMethodDef* const method = c_function_of(function);
  if (method == nullptr) return {};
  if (!PyCFunction_Check(function)) return {method, function, method, method->ml_name};
  PyObject* const self = reinterpret_cast<PyCFunctionObject*>(function)->m_self;
  const bool makes_object =
      self != nullptr && PyType_Check(self) && std::strcmp(method->ml_name, "__new__") == 0;
  if (!makes_object) return {method, function, method, method->ml_name};
  return {method, function, self, reinterpret_cast<PyTypeObject*>(self)->tp_name};
}

record::Token token_of_called(const Called& called) noexcept {
  return reinterpret_cast<record::Token>(called.address);
}

// Whether C functions that this code calls are recorded.
bool records_calls_of(const SubInterpreter& sub, PyCodeObject* code) noexcept {
  EventWord word = word_in(load_code_extra(code, sub.index));
  if (word == 0) {
    const CriticalSection critical;
    word = decide_in_sub_interpreter(code, globals_of_event(code), sub.index);
  }
  return calls_c_recorded(word);
}

SubCFunctions& functions_of(SubInterpreter& sub) {
  if (sub.c_functions == nullptr) sub.c_functions = std::make_unique<SubCFunctions>().release();
  if (sub.c_functions->rules != sub.index) sub.c_functions->by_address.clear();
  sub.c_functions->rules = sub.index;
  return *sub.c_functions;
}

// The word kept of the function, with its region defined in the running measurement. 0: no memory.
std::uint64_t defined_function(SubInterpreter& sub, const Called& called) noexcept try {
  const ErrorGuard guard;
  const CriticalSection critical;
  const auto known = functions_of(sub).by_address.find(called.address);
  const bool decided =
      known != functions_of(sub).by_address.end() && known->second.name == called.name;
  // Deciding may run other threads of the interpreter, which use the table.
  const EventWord word =
      decided ? word_in(known->second.kept) : decide_c_function(called.method, called.function);
  const std::uint64_t kept = is_region(word) ? define_for_measurement(word) : word;
  functions_of(sub).by_address.insert_or_assign(called.address,
                                                SubCFunctions::Known{called.name, kept});
  return kept;
} catch (const std::exception&) {
  return 0;
}

// The word kept of it so far; 0: none.
std::uint64_t known_function(const SubInterpreter& sub, const Called& called) noexcept {
  const CriticalSection critical;
  if (sub.c_functions == nullptr || sub.c_functions->rules != sub.index) return 0;
  const auto known = sub.c_functions->by_address.find(called.address);
  if (known == sub.c_functions->by_address.end()) return 0;
  return known->second.name == called.name ? known->second.kept : 0;
}

// False: the region is not defined in the running measurement.
bool enter_c_if_defined(PyCodeObject* caller, const Called& called, std::uint64_t kept) noexcept {
  const record::NativeCall call;
  record::ThreadRecorder* const recorder = call.recorder();
  if (recorder == nullptr || !record::recording()) return true;
  const EventWord word = word_of_measurement(kept, record::measurement_number());
  if (word == 0) return false;
  if (recorder->innermost() != token_of(caller)) {
    leave_returned_c_function(*recorder, caller);
  }
  recorder->enter(token_of_called(called), word);
  return true;
}

}  // namespace

void enter_c_in_sub_interpreter(SubInterpreter& sub, PyObject* const* arguments) noexcept {
  if (PyFunction_Check(arguments[2])) return;
  const Called called = called_by(arguments[2]);
  PyCodeObject* const caller = code_argument(arguments);
  if (called.method == nullptr || !is_reported_whole(arguments)) return;
  if (!records_calls_of(sub, caller)) return;
  std::uint64_t kept = known_function(sub, called);
  if (kept == 0) kept = defined_function(sub, called);
  while (is_region(word_in(kept)) && !enter_c_if_defined(caller, called, kept)) {
    kept = defined_function(sub, called);
  }
}

void leave_c_in_sub_interpreter(SubInterpreter& sub, PyObject* const* arguments) noexcept {
  const Called called = called_by(arguments[2]);
  if (called.method == nullptr || !records_calls_of(sub, code_argument(arguments))) return;
  const record::NativeCall call;
  record::ThreadRecorder* const recorder = call.recorder();
  if (recorder == nullptr || !record::recording()) return;
  leave_innermost_function(*recorder, token_of_called(called));
}

void forget_c_functions(SubInterpreter& sub) noexcept {
  delete std::exchange(sub.c_functions, nullptr);
}

}  // namespace timeloom::python
