#include "python/session/native_switch.hpp"

#include "python/interpreter/compat.hpp"
#include "python/session/session.hpp"

namespace timeloom::python {

void switch_for_native_code(bool on) noexcept {
  if (Py_IsInitialized() == 0) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  if (in_main_interpreter()) {
    const ErrorGuard guard;
    if (!set_recording(on)) PyErr_Clear();
  }
  PyGILState_Release(state);
}

}  // namespace timeloom::python
