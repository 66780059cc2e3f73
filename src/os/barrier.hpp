// A memory barrier on all threads of the process, made by the kernel (membarrier(2)): one thread
// pays for it, so that others, which often store and then load, need none. Nothing throws.
#pragma once

namespace timeloom::os {

// Asks the kernel for such barriers in this process, also in a forked child. False: it has none, or
// a filter of system calls forbids them.
bool offer_barriers() noexcept;

// After it, all threads see the caller's stores before, and the caller sees all that they have
// stored before. False: it was refused. REQUIRES: offer_barriers() has returned true.
bool barrier_on_all_threads() noexcept;

}  // namespace timeloom::os
