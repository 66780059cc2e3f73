// Counts the blocks of Python's own allocators (PEP 445), for --memory-python: a function is put
// before the allocators of the domains "mem" and "object", calls them, and tells the wrapper
// library of memory.
//
// Needs the GIL, or on builds without one an attached thread state. Nothing throws.
#pragma once

namespace timeloom::python {

// From here on. False: the wrapper library of memory is not loaded.
bool watch_python_memory() noexcept;
// Ends it. An allocator of the program that was put before ours keeps it, which counts nothing
// then. False: the program has taken ours away before, such as by tracemalloc.stop(), so that some
// blocks were not counted.
bool unwatch_python_memory() noexcept;

}  // namespace timeloom::python
