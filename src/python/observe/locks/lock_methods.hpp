// The methods of Python's lock types, replaced in their method tables while locks are recorded, so
// that every name and bound method of the program leads here: `with lock`, acquire(), release().
//
// A method first tries to take the lock without waiting, as the interpreter itself does, and waits
// only where that failed; the result, exceptions and signals are the original's. With the GIL;
// nothing throws.
#pragma once

#include <cstdint>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

enum class LockType : std::uint8_t { kLock, kRLock, kSemLock };
inline constexpr std::size_t kLockTypes = 3;

// Called for objects of the types that are diverted, with the GIL. Those that are not noexcept may
// name a thread, by code that gives up the GIL: a thread that the interpreter ends there unwinds
// its stack.
struct LockListener {
  void (*made)(LockType type, PyObject* lock) noexcept;
  void (*destroyed)(PyObject* lock) noexcept;
  // The calling thread took the lock; `times`: for an RLock that Condition.wait() takes again, else
  // 1.
  void (*taken)(LockType type, PyObject* lock, std::uint32_t times);
  void (*released)(PyObject* lock, bool entirely) noexcept;
  void (*refused)(LockType type, PyObject* lock) noexcept;
  void (*reset)(PyObject* lock) noexcept;
  // Whether another thread holds the lock, as far as that is known.
  bool (*is_taken)(PyObject* lock) noexcept;
  // Called before and after a wait for the lock. `waiting`: kWaitingSize bytes for the listener,
  // the same in both calls. wait_ends() comes before taken(); `acquired`: which follows.
  void (*wait_begins)(LockType type, PyObject* lock, void* waiting);
  void (*wait_ends)(PyObject* lock, void* waiting, bool acquired) noexcept;
};
inline constexpr std::size_t kWaitingSize = 64;

// Diverts the methods of a type; does nothing with one that is diverted, or has other methods than
// are known. `type`: borrowed; kept until restore_lock_methods().
void divert_lock_methods(LockType type, PyTypeObject* of, const LockListener& listener) noexcept;
// Restores the methods of all types. Calls that are waiting go on, and still call wait_ends().
void restore_lock_methods() noexcept;

}  // namespace timeloom::python
