#include "python/interpreter/free_threading.hpp"

#include <atomic>

namespace timeloom::python {

#ifdef Py_GIL_DISABLED

namespace {

// An object for its lock.
struct Lock {
  PyObject_HEAD
};
Lock g_lock = {PyObject_HEAD_INIT(nullptr)};

struct Call {
  void (*function)(void*);
  void* context;
};

// Of all objects, one is enough.
int on_object(PyObject*, void* argument) {
  auto* call = static_cast<Call*>(argument);
  call->function(call->context);
  return 0;
}

PyMutex g_turn = {};
// Whose turn it is: an address that only that thread has. Each thread compares it with
// its own, which it alone stores, so that the order of others does not matter.
constinit std::atomic<const char*> g_turn_of = nullptr;
int g_turns = 0;  // that it has taken
constinit thread_local char t_self = 0;

}  // namespace

// Waiting leaves a critical section, as all waiting does.
void lock_control() noexcept {
  if (g_turn_of.load(std::memory_order_relaxed) != &t_self) {
    PyMutex_Lock(&g_turn);
    g_turn_of.store(&t_self, std::memory_order_relaxed);
  }
  ++g_turns;
}

void unlock_control() noexcept {
  if (g_turn_of.load(std::memory_order_relaxed) != &t_self || --g_turns > 0) return;
  g_turn_of.store(nullptr, std::memory_order_relaxed);
  PyMutex_Unlock(&g_turn);
}

// Not every fork is announced; then it may be a turn of a thread that is not here.
void reset_control_lock() noexcept {
  g_turn = {};
  g_turn_of.store(nullptr, std::memory_order_relaxed);
  g_turns = 0;
}

CriticalSection::CriticalSection() noexcept {
  PyCriticalSection_Begin(&section_, reinterpret_cast<PyObject*>(&g_lock));
}

// The interpreter stops all other threads while it shows its objects to a visitor; there is no
// public function that stops them.
void call_with_world_stopped(void (*function)(void*), void* context) noexcept {
  Call call{function, context};
  PyUnstable_GC_VisitObjects(on_object, &call);
}

#else

void call_with_world_stopped(void (*function)(void*), void* context) noexcept { function(context); }
void lock_control() noexcept {}
void unlock_control() noexcept {}
void reset_control_lock() noexcept {}

#endif

}  // namespace timeloom::python
