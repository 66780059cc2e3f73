// Part of each wrapper library: vfork(), whose child has the memory of its parent until it runs
// another program: what the child does is no call of the measured process.
#include <unistd.h>

#include "preload/common/next_function.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {
namespace {

constinit Next<pid_t()> next_vfork{"vfork"};

}  // namespace
}  // namespace timeloom::preload

// The child returns first, and would write over a frame of ours: the wrapper has to end in a jump,
// which compilers make of this call where they optimise, as CMakeLists.txt has it.
TIMELOOM_WRAPPER(pid_t, vfork, void) {
  timeloom::record::note_vfork();
  return timeloom::preload::next_vfork();
}
