#include "python/interpreter/pending_call.hpp"

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

bool call_on_main_thread(int (*function)(void*)) noexcept {
  if (Py_AddPendingCall(function, nullptr) != 0) return false;
  break_into_main_interpreter();
  return true;
}

}  // namespace timeloom::python
