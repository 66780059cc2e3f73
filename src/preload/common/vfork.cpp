// Part of each wrapper library: vfork(). The child shares its parent's memory until it runs another
// program; its calls do not belong to the measured process.
#include <unistd.h>

#include "preload/common/next_function.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {
namespace {

constinit Next<pid_t()> next_vfork{"vfork"};

}  // namespace
}  // namespace timeloom::preload

// The child returns first and would overwrite a stack frame of the wrapper. So the wrapper must end
// in a jump; compilers make one of this call when they optimise, and CMakeLists.txt sees to that.
TIMELOOM_WRAPPER(pid_t, vfork, void) {
  timeloom::record::note_vfork();
  return timeloom::preload::next_vfork();
}
