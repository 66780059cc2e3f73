// Threads that native code has created: their names, and the numbers that link them to the calls
// that created them and wait for them.
//
// Any thread; a forked child starts with none. Throws only where noted.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <string>

namespace timeloom::preload {

// Remembers the number of a running thread that may be waited for.
void remember_thread(pthread_t thread, std::uint64_t number) noexcept;
// Removes and returns the thread's number; 0: not known.
std::uint64_t take_thread(pthread_t thread) noexcept;

using StartRoutine = void*(void*);

// True for threads that Python starts; Python names them itself.
bool is_of_python(StartRoutine* routine) noexcept;
// The name of a new thread, from the library that contains its code: "libgomp thread 2". Throws
// std::bad_alloc.
std::string name_of_new_thread(StartRoutine* routine, const void* argument);

}  // namespace timeloom::preload
