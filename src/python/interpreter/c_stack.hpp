// The C stack of the calling thread, and a further one when it runs out.
//
// All functions may be called from any thread and throw nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace timeloom::python {

// The address below which little is left of the calling thread's stack (at most
// 2 MiB, or half of a smaller stack); 0 when that is not known. Asks the system:
// for rare use.
std::uintptr_t stack_floor() noexcept;

// `size` bytes from the address `low` on.
struct CStack {
  char* low;
  std::size_t size;
  std::uintptr_t floor() const noexcept;  // as stack_floor()
};

// Calls function(argument, stack) on a new stack of 8 MiB
// and returns when it has returned. False, and nothing is called, when there is
// no memory for a stack. Keeps one stack a thread for the next time.
bool call_on_new_stack(void (*function)(void* argument, const CStack& stack),
                       void* argument) noexcept;

}  // namespace timeloom::python
