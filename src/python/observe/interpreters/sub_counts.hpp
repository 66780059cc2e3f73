// The number of sub-interpreters that a session does not record: the ones that have begun since its
// start, or lived then, and have not joined it. Counted by CPython's own numbers, so that also the
// ones count that run nothing of Timeloom: `timeloom.pth` may not be read there.
//
// The session calls the functions that need the GIL of the main interpreter.
#pragma once

#include <cstdint>

namespace timeloom::python {

// A session begins, or goes on in a forked child, which has no interpreter but the main one.
void begin_sub_interpreter_count() noexcept;
void begin_sub_interpreter_count_of_child() noexcept;
// The number of those that were not asked to join, until now. Needs the GIL.
std::uint64_t unasked_sub_interpreters() noexcept;

// One has been asked to join, for the first time. Any thread.
void count_asked_sub_interpreter() noexcept;

}  // namespace timeloom::python
