// The runtimes of OpenMP that call a tool by the interface OMPT, LLVM's and Intel's. A process may
// have several copies of them, since wheels bring their own; nothing global is kept for a runtime,
// so that copies do not disturb each other. Any thread; nothing throws.
#pragma once

namespace timeloom::ompt {

// Has the calling thread, which a runtime has just made, take part in the measurement as "libomp
// thread 2". `inside`: an address in the runtime.
void name_this_thread(const void* inside) noexcept;

}  // namespace timeloom::ompt
