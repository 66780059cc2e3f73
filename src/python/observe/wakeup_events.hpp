// The two ends of a wakeup as events of the calling thread (core/wakeups.hpp): of tasks
// (--async-tasks) and of threads that wait for a lock (--locks).
//
// Needs the GIL. Without memory a wakeup is not recorded.
#pragma once

#include <cstdint>

namespace timeloom::python {

// A wakeup is caused here and now. Returns its number; 0: nothing is recorded here.
std::uint64_t record_wakeup() noexcept;
// The calling thread, or the task that it runs, goes on after the wakeup with this number; 0: the
// wakeup is not known.
void record_woken(std::uint64_t number) noexcept;

}  // namespace timeloom::python
