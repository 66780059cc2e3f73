// Threads that native code has created: the numbers that connect them with who created them and who
// waits for them, and their names.
//
// Any thread; a forked child begins with none. Nothing throws.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <string>

namespace timeloom::preload {

// The running thread of this id may be waited for; its number.
void remember_thread(pthread_t thread, std::uint64_t number) noexcept;
// Its number, which is forgotten; 0: not known.
std::uint64_t take_thread(pthread_t thread) noexcept;

using StartRoutine = void*(void*);

// Threads that Python begins, which names them itself.
bool is_of_python(StartRoutine* routine) noexcept;
// The name of a new thread, after the library that its code is of: "libgomp thread 2". Throws
// std::bad_alloc.
std::string name_of_new_thread(StartRoutine* routine, const void* argument);

}  // namespace timeloom::preload
