// The functions that compiled code calls at its enters and leaves, for code that is not linked with
// libtimeloom: before the empty ones of the C library, which it finds otherwise. And dlclose():
// other code may be loaded where code was.
//
// A jump each, which costs an event next to nothing.
#include <dlfcn.h>

#include "preload/common/next_function.hpp"
#include "record/measurement.hpp"
#include "record/native/compiled_code.hpp"

namespace timeloom::preload {
namespace {

constinit Next<int(void*)> next_dlclose{"dlclose"};

}  // namespace
}  // namespace timeloom::preload

TIMELOOM_WRAPPER(void, __cyg_profile_func_enter, void* function, void* caller) {
  (void)caller;
  timeloom::record::enter_function(function);
}
TIMELOOM_WRAPPER(void, __cyg_profile_func_exit, void* function, void* caller) {
  (void)caller;
  timeloom::record::leave_function(function);
}

TIMELOOM_WRAPPER(int, dlclose, void* object) {
  const int result = timeloom::preload::next_dlclose(object);
  if (timeloom::record::active()) timeloom::record::forget_unloaded_code();
  return result;
}
