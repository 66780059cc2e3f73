// Counts the blocks of Python's own allocators (PEP 445), for --memory-python: a function is put
// before the allocators of the domains "mem" and "object", calls them, and tells the wrapper
// library of memory.
//
// Needs the GIL, or on builds without one an attached thread state. Nothing throws.
#pragma once

namespace timeloom::python {

// Starts counting. False: the wrapper library of memory is not loaded.
bool watch_python_memory() noexcept;
// Ends counting. If the program has put an allocator before Timeloom's, this stays in the chain and
// counts nothing. False: the program had removed it before, for example with tracemalloc.stop(), so
// that some blocks were not counted.
bool unwatch_python_memory() noexcept;

}  // namespace timeloom::python
