// The calling thread's stack: its memory, and the places in it to which jumps go. Throws nothing.
#pragma once

#include <cstddef>
#include <span>

namespace timeloom::os {

// Also the part that the thread does not use yet; empty: not known. Allocates, and reads a file for
// the first thread.
std::span<const std::byte> own_stack() noexcept;

// The stack pointer that longjmp() restores from the jmp_buf at `buffer`, which setjmp() has filled
// on this thread. nullptr: its place there is not known on this processor or in this C library.
// Also in a handler of a signal.
const void* stack_pointer_in_jump(const void* buffer) noexcept;

}  // namespace timeloom::os
