// The account of the process's memory: the bytes that it holds, the bytes that each call path has
// allocated, and when sampled blocks were allocated and freed.
//
// Wrappers of the allocator call it on any thread, also before any constructor has run and in a
// handler of a signal. It allocates nothing, throws nothing and keeps errno. What a thread
// allocates while it is inside the account counts for the measurement itself.
#pragma once

#include <cstddef>
#include <cstdint>

namespace timeloom::preload {

// A block of `bytes`, as the allocator has rounded them, is there now. `caller`: the return address
// of the wrapper.
void note_allocation(const void* block, std::size_t bytes, const void* caller) noexcept;
// It is about to be freed.
void note_free(const void* block, std::size_t bytes, const void* caller) noexcept;
// The address space [begin, begin + bytes) has been mapped for memory, or has been given back. Of a
// range that is given back, only the parts count that note_mapped() was told; false: there are
// none.
void note_mapped(const void* begin, std::size_t bytes, const void* caller) noexcept;
bool note_unmapped(const void* begin, std::size_t bytes, const void* caller) noexcept;

// The same for Python's own allocators, which take their blocks from memory that is counted
// already: the blocks get call paths of their own, and change no other amount.
void note_python_allocation(std::size_t bytes) noexcept;
void note_python_free() noexcept;

// Tells the account that the program has an allocator of its own, whose functions do not call the
// wrappers.
void note_foreign_allocator() noexcept;

}  // namespace timeloom::preload
