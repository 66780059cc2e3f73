// The functions that compiled code calls at its enters and leaves, for code that is not linked with
// libtimeloom: before the empty ones of the C library, which it finds otherwise. And dlclose():
// other code may be loaded where code was.
//
// A jump each, which costs an event next to nothing.
#include <dlfcn.h>

#include <atomic>

#include "preload/common/next_function.hpp"
#include "preload/compiler/unloads.hpp"
#include "record/measurement.hpp"
#include "record/native/compiled_code.hpp"

namespace timeloom::preload {
namespace {

constinit Next<int(void*)> next_dlclose{"dlclose"};
constinit std::atomic<std::uint64_t> g_unloads = 0;

}  // namespace

std::uint64_t unloads_so_far() noexcept { return g_unloads.load(std::memory_order_acquire); }

void close_object(void* object) noexcept { next_dlclose(object); }

}  // namespace timeloom::preload

TIMELOOM_WRAPPER(void, __cyg_profile_func_enter, void* function, void* caller) {
  (void)caller;
  timeloom::record::enter_function(function, __builtin_dwarf_cfa());
}
TIMELOOM_WRAPPER(void, __cyg_profile_func_exit, void* function, void* caller) {
  (void)caller;
  timeloom::record::leave_function(function);
}

TIMELOOM_WRAPPER(int, dlclose, void* object) {
  const int result = timeloom::preload::next_dlclose(object);
  timeloom::preload::g_unloads.fetch_add(1, std::memory_order_release);
  if (timeloom::record::active()) timeloom::record::forget_unloaded_code();
  return result;
}
