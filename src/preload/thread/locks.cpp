// The wrappers of mutexes and condition variables. Only calls that take long are recorded, after
// they have returned.
//
// Functions that call the wrapped function are not noexcept: a thread may be cancelled in it.
#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <time.h>

#include <cerrno>

#include "os/clock.hpp"
#include "preload/common/next_function.hpp"
#include "preload/common/wrapped_call.hpp"
#include "preload/thread/functions.hpp"
#include "record/created_threads.hpp"
#include "record/measurement.hpp"

namespace timeloom::preload {
namespace {

using enum ThreadFunction;
using record::WrappedFunction;
using record::wrapping;

// The library that defines malloc(). In a program that is not position-independent and takes the
// function's address, dlsym() returns an entry of the procedure linkage table instead of the
// definition.
const void* allocator() noexcept {
  const void* const found = ::dlsym(RTLD_DEFAULT, "malloc");
  Dl_info info{};
  void* symbol = nullptr;
  if (found == nullptr || ::dladdr1(found, &info, &symbol, RTLD_DL_SYMENT) == 0) return nullptr;
  const bool defined =
      symbol == nullptr || static_cast<const ElfW(Sym)*>(symbol)->st_shndx != SHN_UNDEF;
  return defined ? found : ::dlsym(RTLD_NEXT, "malloc");
}

// The recorder allocates memory, so locks of the allocator must not be recorded.
[[gnu::constructor]] void leave_out_the_allocator() noexcept {
  const void* const found = allocator();
  Dl_info of_allocator{}, of_system{};
  if (found == nullptr || ::dladdr(found, &of_allocator) == 0) return;
  if (::dladdr(reinterpret_cast<void*>(&::gnu_get_libc_version), &of_system) == 0) return;
  if (of_allocator.dli_fbase != of_system.dli_fbase) record::add_own_code(found);
}

bool locks_wanted() noexcept { return wrapping() && record::least_lock() != record::kNoLocks; }

std::uint64_t nanoseconds() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void record_call(ThreadFunction which, const void* caller, std::uint64_t began) noexcept {
  record::WrapperScope scope(caller, began);
  if (!scope.wanted()) return;
  WrappedFunction& function = function_of(which);
  scope.enter(function);
  scope.go_on();
  scope.leave(function);
}

// A thread that is not recorded yet must not become so here: Python's threads start with locks,
// before they have names.
template <typename Call>
[[gnu::noinline]] int lock_by(ThreadFunction which, const void* caller, Call call) {
  if (!record::thread_takes_part() || record::is_own_code(caller)) return call();
  const std::uint32_t measurement = record::measurement_number();
  const std::uint64_t began_ns = nanoseconds();
  const std::uint64_t began = os::now();
  const int result = call();
  const bool long_enough = nanoseconds() - began_ns >= record::least_lock();
  if (long_enough && measurement == record::measurement_number() && record::thread_takes_part()) {
    record_call(which, caller, began);
  }
  return result;
}

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom;
using namespace timeloom::preload;

// Defines a wrapper NAME with this number of arguments, whose region is WHICH. Variants with a
// clock were added in version 2.30 of the C library.
#define LOCK_1(name, which, A)                                     \
  namespace {                                                      \
  constinit Next<int(A)> next_##name{#name};                       \
  }                                                                \
  TIMELOOM_WRAPPER(int, name, A a) {                               \
    const auto call = [=] { return next_##name(a); };              \
    return locks_wanted() ? lock_by(which, CALLER, call) : call(); \
  }
#define LOCK_2(name, which, A, B)                                  \
  namespace {                                                      \
  constinit Next<int(A, B)> next_##name{#name};                    \
  }                                                                \
  TIMELOOM_WRAPPER(int, name, A a, B b) {                          \
    const auto call = [=] { return next_##name(a, b); };           \
    return locks_wanted() ? lock_by(which, CALLER, call) : call(); \
  }
#define LOCK_3(name, which, A, B, C)                                               \
  namespace {                                                                      \
  constinit Next<int(A, B, C)> next_##name{#name, [](A, B, C) { return ENOSYS; }}; \
  }                                                                                \
  TIMELOOM_WRAPPER(int, name, A a, B b, C c) {                                     \
    const auto call = [=] { return next_##name(a, b, c); };                        \
    return locks_wanted() ? lock_by(which, CALLER, call) : call();                 \
  }
#define LOCK_4(name, which, A, B, C, D)                                                  \
  namespace {                                                                            \
  constinit Next<int(A, B, C, D)> next_##name{#name, [](A, B, C, D) { return ENOSYS; }}; \
  }                                                                                      \
  TIMELOOM_WRAPPER(int, name, A a, B b, C c, D d) {                                      \
    const auto call = [=] { return next_##name(a, b, c, d); };                           \
    return locks_wanted() ? lock_by(which, CALLER, call) : call();                       \
  }

using Mutex = pthread_mutex_t*;
using Condition = pthread_cond_t*;
using Time = const timespec*;

LOCK_2(pthread_mutex_init, kMutexInit, Mutex, const pthread_mutexattr_t*)
LOCK_1(pthread_mutex_destroy, kMutexDestroy, Mutex)
LOCK_1(pthread_mutex_lock, kMutexLock, Mutex)
LOCK_2(pthread_mutex_timedlock, kMutexLock, Mutex, Time)
LOCK_3(pthread_mutex_clocklock, kMutexLock, Mutex, clockid_t, Time)
LOCK_1(pthread_mutex_trylock, kMutexTrylock, Mutex)
LOCK_1(pthread_mutex_unlock, kMutexUnlock, Mutex)

LOCK_2(pthread_cond_init, kCondInit, Condition, const pthread_condattr_t*)
LOCK_1(pthread_cond_destroy, kCondDestroy, Condition)
LOCK_1(pthread_cond_signal, kCondSignal, Condition)
LOCK_1(pthread_cond_broadcast, kCondBroadcast, Condition)
LOCK_2(pthread_cond_wait, kCondWait, Condition, Mutex)
LOCK_3(pthread_cond_timedwait, kCondTimedwait, Condition, Mutex, Time)
LOCK_4(pthread_cond_clockwait, kCondTimedwait, Condition, Mutex, clockid_t, Time)
