// Part of each wrapper library. A signal handler on the signal stack of its thread may have
// interrupted a recorder, so nothing is recorded there. The program may choose another stack.
#include <signal.h>

#include "preload/common/next_function.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {
namespace {

constinit Next<int(const stack_t*, stack_t*)> next_sigaltstack{"sigaltstack"};

}  // namespace
}  // namespace timeloom::preload

TIMELOOM_WRAPPER(int, sigaltstack, const stack_t* stack, stack_t* before) {
  const int result = timeloom::preload::next_sigaltstack(stack, before);
  if (result == 0 && stack != nullptr && timeloom::record::wrapping()) {
    const bool disabled = (stack->ss_flags & SS_DISABLE) != 0;
    timeloom::record::use_signal_stack(
        {static_cast<const std::byte*>(stack->ss_sp), disabled ? 0 : stack->ss_size});
  }
  return result;
}
