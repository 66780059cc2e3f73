// How the memory of a process is divided among its threads.
#pragma once

namespace timeloom::os {

// Lets the threads share so many heaps. What a thread frees stays with its heap, so where threads
// come and go and each keeps something, every further heap costs as much again. To be called before
// threads are started. No effect where the C library has no such heaps.
void share_heaps(unsigned count) noexcept;

}  // namespace timeloom::os
