// The runtimes of OpenMP that have asked for a tool, LLVM's and Intel's; a process may have several
// copies, which wheels bring. All that is kept of one lies in its own objects and on its threads.
// Any thread; nothing throws.
#pragma once

namespace timeloom::ompt {

// Has the calling thread, which a runtime has just made, take part in the measurement as "libomp
// thread 2". `inside`: an address in the runtime.
void name_this_thread(const void* inside) noexcept;

}  // namespace timeloom::ompt
