#include "python/free_threading.hpp"

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

}  // namespace

Exclusive::Exclusive() noexcept {
  PyCriticalSection_Begin(&section_, reinterpret_cast<PyObject*>(&g_lock));
}

// The interpreter stops all other threads while it shows its objects to a visitor; to
// stop them is no public function.
void call_alone(void (*function)(void*), void* context) noexcept {
  Call call{function, context};
  PyUnstable_GC_VisitObjects(on_object, &call);
}

#else

void call_alone(void (*function)(void*), void* context) noexcept { function(context); }

#endif

}  // namespace timeloom::python
