// The sub-interpreters that are recorded, by their interpreter: for code that has no module
// timeloom._sub to ask, such as functions of types that all interpreters share.
//
// Any thread. Functions about one interpreter need its GIL, so that its state stays.
#pragma once

#include <cstddef>

#include "python/observe/interpreters/sub_state.hpp"

namespace timeloom::python {

// The running interpreter is recorded from here on, or no longer.
void add_to_table(SubInterpreter& sub) noexcept;
void take_from_table(SubInterpreter& sub) noexcept;
// The state of the running interpreter; nullptr: it is not recorded.
SubInterpreter* sub_interpreter_in_table() noexcept;
std::size_t interpreters_in_table() noexcept;
// In a forked child, which has the main interpreter alone.
void empty_table_of_child() noexcept;

}  // namespace timeloom::python
