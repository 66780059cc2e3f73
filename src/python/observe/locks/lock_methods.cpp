#include "python/observe/locks/lock_methods.hpp"

#include <array>
#include <cstring>

#include "python/session/diverted_method.hpp"

namespace timeloom::python {
namespace {

using PlainMethod = PyObject* (*)(PyObject*, PyObject*);  // METH_NOARGS, METH_O, METH_VARARGS
using KeywordMethod = PyObject* (*)(PyObject*, PyObject*, PyObject*);

enum class LockRole : std::uint8_t { kAcquire, kRelease, kRestore, kSave, kReset };

struct LockMethods {
  PyTypeObject* type = nullptr;  // diverted; nullptr: it is not
  allocfunc allocate = nullptr;
  destructor destroy = nullptr;
  KeywordMethod acquire = nullptr;  // the original, in one of two forms
  FastKeywords fast_acquire = nullptr;
};
std::array<LockMethods, kLockTypes> g_methods;
const LockListener* g_listener = nullptr;
PyObject* g_not_waiting = nullptr;  // (False,); kept

constexpr double kLongTimeout = 1e6;  // seconds, less than what overflows

LockMethods& methods_of(LockType type) noexcept {
  return g_methods[static_cast<std::size_t>(type)];
}

// False in sub-interpreters, whose types are others.
bool is_heard(LockType type, PyObject* lock) noexcept {
  PyTypeObject* const known = methods_of(type).type;
  if (known == nullptr) return false;
  return Py_TYPE(lock) == known || PyType_IsSubtype(Py_TYPE(lock), known) != 0;
}

PyObject* try_to_acquire(LockType type, PyObject* lock) noexcept {
  const LockMethods& methods = methods_of(type);
  if (methods.acquire != nullptr) return methods.acquire(lock, g_not_waiting, nullptr);
  PyObject* const arguments[] = {Py_False};
  return methods.fast_acquire(lock, arguments, 1, nullptr);
}

// Functions that call an original which may wait are not noexcept: a thread that the interpreter
// ends while it waits unwinds its stack (pthread_exit).
template <typename Call>
PyObject* wait_for(LockType type, PyObject* lock, std::uint32_t times, Call call) {
  alignas(8) std::array<std::byte, kWaitingSize> waiting;
  const LockListener* const listener = g_listener;
  listener->wait_begins(type, lock, waiting.data());
  PyObject* const result = call();  // the measurement may end meanwhile
  const bool acquired = result != nullptr && result != Py_False;
  listener->wait_ends(lock, waiting.data(), acquired);
  if (!is_heard(type, lock)) return result;
  if (result == Py_False) listener->refused(type, lock);
  if (acquired) listener->taken(type, lock, times);
  return result;
}

// `waits`: the arguments are known to be right, and to wait.
template <typename Call>
PyObject* acquire_lock(LockType type, PyObject* lock, bool waits, Call call) {
  if (!is_heard(type, lock)) return call();
  PyObject* const result = waits ? try_to_acquire(type, lock) : call();
  if (result == nullptr) return nullptr;
  if (waits && result == Py_False) {
    Py_DECREF(result);
    return wait_for(type, lock, 1, call);
  }
  if (!waits && !is_heard(type, lock)) return result;  // it may have waited all the same
  if (result == Py_False) {
    g_listener->refused(type, lock);
  } else {
    g_listener->taken(type, lock, 1);
  }
  return result;
}

// A thread that waits for it goes on when this one gives up the GIL: the order is kept.
template <typename Call>
PyObject* release_lock(LockType type, PyObject* lock, bool entirely, Call call) {
  PyObject* const result = call();
  if (result != nullptr && is_heard(type, lock)) g_listener->released(lock, entirely);
  return result;
}

// Its argument is the number of times and the owner, as _release_save() has returned them.
template <typename Call>
PyObject* restore_lock(LockType type, PyObject* lock, PyObject* saved, Call call) {
  if (!is_heard(type, lock)) return call();
  PyObject* state = saved;
  if (PyTuple_CheckExact(state) && PyTuple_GET_SIZE(state) == 1) state = PyTuple_GET_ITEM(state, 0);
  std::uint32_t times = 1;
  if (PyTuple_CheckExact(state) && PyTuple_GET_SIZE(state) == 2) {
    PyObject* const count = PyTuple_GET_ITEM(state, 0);
    if (PyLong_CheckExact(count))
      times = static_cast<std::uint32_t>(PyLong_AsUnsignedLongMask(count));
  }
  if (g_listener->is_taken(lock)) return wait_for(type, lock, times, call);
  PyObject* const result = call();
  if (result != nullptr && is_heard(type, lock)) g_listener->taken(type, lock, times);
  return result;
}

template <typename Call>
PyObject* play_role(LockRole role, LockType type, PyObject* lock, bool waits, PyObject* argument,
                    Call call) {
  switch (role) {
    case LockRole::kAcquire: return acquire_lock(type, lock, waits, call);
    case LockRole::kRelease: return release_lock(type, lock, false, call);
    case LockRole::kSave: return release_lock(type, lock, true, call);
    case LockRole::kRestore: return restore_lock(type, lock, argument, call);
    case LockRole::kReset: {
      PyObject* const result = call();
      if (result != nullptr && is_heard(type, lock)) g_listener->reset(lock);
      return result;
    }
  }
  return call();
}

// The arguments of acquire(blocking=True, timeout=-1), in SemLock acquire(block=True,
// timeout=None).
struct AcquireArguments {
  PyObject* blocking = nullptr;  // nullptr: not given
  PyObject* timeout = nullptr;
  bool known = true;

  void take(PyObject*& argument, PyObject* value) noexcept {
    known = known && argument == nullptr;
    argument = value;
  }
  void take_positional(PyObject* const* values, Py_ssize_t count) noexcept {
    known = known && count <= 2;
    if (count > 0) take(blocking, values[0]);
    if (count > 1) take(timeout, values[1]);
  }
  void take_named(LockType type, PyObject* name, PyObject* value) noexcept {
    const auto is = [&](const char* text) {
      return PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, text) == 0;
    };
    if (is(type == LockType::kSemLock ? "block" : "blocking")) return take(blocking, value);
    if (is("timeout")) return take(timeout, value);
    known = false;
  }
};

bool is_true(PyObject* value) noexcept {
  if (value == nullptr || value == Py_True) return true;
  if (!PyLong_CheckExact(value)) return false;
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(value, &overflow);
  return overflow == 0 && number != 0 && number == static_cast<int>(number);
}

// Of a lock, -1 is for ever; of a SemLock, None is, and a negative time is none.
bool is_timeout(LockType type, PyObject* value) noexcept {
  const bool takes_none = type == LockType::kSemLock;
  if (value == nullptr) return true;
  if (value == Py_None) return takes_none;
  double seconds = 0;
  if (PyFloat_CheckExact(value)) {
    seconds = PyFloat_AS_DOUBLE(value);
  } else if (PyLong_CheckExact(value)) {
    int overflow = 0;
    seconds = static_cast<double>(PyLong_AsLongAndOverflow(value, &overflow));
    if (overflow != 0) return false;
  } else {
    return false;
  }
  if (seconds == -1) return !takes_none;
  return seconds >= 0 && seconds < kLongTimeout;
}

// False where the arguments may be wrong, or do not wait: the original alone decides.
bool may_wait(LockType type, const AcquireArguments& arguments) noexcept {
  return arguments.known && is_true(arguments.blocking) && is_timeout(type, arguments.timeout);
}

bool may_wait(LockType type, PyObject* const* values, Py_ssize_t count) noexcept {
  AcquireArguments arguments;
  arguments.take_positional(values, count);
  return may_wait(type, arguments);
}

bool may_wait(LockType type, PyObject* values, PyObject* keywords) noexcept {
  AcquireArguments arguments;
  arguments.take_positional(&PyTuple_GET_ITEM(values, 0), PyTuple_GET_SIZE(values));
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  while (keywords != nullptr && PyDict_Next(keywords, &position, &name, &value) != 0) {
    arguments.take_named(type, name, value);
  }
  return may_wait(type, arguments);
}

bool may_wait(LockType type, PyObject* const* values, Py_ssize_t count, PyObject* names) noexcept {
  AcquireArguments arguments;
  arguments.take_positional(values, count);
  const Py_ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (Py_ssize_t i = 0; i < named; ++i) {
    arguments.take_named(type, PyTuple_GET_ITEM(names, i), values[count + i]);
  }
  return may_wait(type, arguments);
}

// Our method of a type for a role, in each form of C functions that Python has; and the method that
// it stands for. Several names may share one; the old names (`acquire_lock`) have functions of
// their own from Python 3.14 on.
template <LockType kType, LockRole kRole, bool kOldName>
struct Method {
  static inline PlainMethod plain = nullptr;
  static inline KeywordMethod keywords = nullptr;
  static inline Fast fast = nullptr;
  static inline FastKeywords fast_keywords = nullptr;

  static PyObject* call_plain(PyObject* lock, PyObject* argument) {
    return play_role(kRole, kType, lock, true, argument, [&] { return plain(lock, argument); });
  }
  static PyObject* call_keywords(PyObject* lock, PyObject* arguments, PyObject* names) {
    return play_role(kRole, kType, lock,
                     kRole == LockRole::kAcquire && may_wait(kType, arguments, names), arguments,
                     [&] { return keywords(lock, arguments, names); });
  }
  static PyObject* call_fast(PyObject* lock, PyObject* const* arguments, Py_ssize_t count) {
    return play_role(
        kRole, kType, lock, kRole == LockRole::kAcquire && may_wait(kType, arguments, count),
        count > 0 ? arguments[0] : Py_None, [&] { return fast(lock, arguments, count); });
  }
  static PyObject* call_fast_keywords(PyObject* lock, PyObject* const* arguments, Py_ssize_t count,
                                      PyObject* names) {
    const bool waits = kRole == LockRole::kAcquire && may_wait(kType, arguments, count, names);
    return play_role(kRole, kType, lock, waits, count > 0 ? arguments[0] : Py_None,
                     [&] { return fast_keywords(lock, arguments, count, names); });
  }

  // Whether it was diverted: all names of one form have one function.
  template <typename Function>
  static bool take(PyMethodDef& method, Function& original, Function ours) noexcept {
    const auto now = reinterpret_cast<Function>(reinterpret_cast<void*>(method.ml_meth));
    if (now == ours || (original != nullptr && original != now)) return false;
    original = now;
    method.ml_meth = method_of(ours);
    return true;
  }
  static bool divert(PyMethodDef& method) noexcept {
    switch (method.ml_flags) {
      case METH_NOARGS:
      case METH_O: return take(method, plain, &call_plain);
      case METH_VARARGS:  // an acquire() that takes arguments so is not known
        return kRole != LockRole::kAcquire && take(method, plain, &call_plain);
      case METH_VARARGS | METH_KEYWORDS: return take(method, keywords, &call_keywords);
      case METH_FASTCALL: return take(method, fast, &call_fast);
      case METH_FASTCALL | METH_KEYWORDS: return take(method, fast_keywords, &call_fast_keywords);
      default: return false;
    }
  }
  // Does nothing if another tool has replaced it since.
  static void restore(PyMethodDef& method) noexcept {
    const auto give = [&](auto original, auto ours) {
      if (method.ml_meth == method_of(ours)) method.ml_meth = method_of(original);
    };
    give(plain, &call_plain);
    give(keywords, &call_keywords);
    give(fast, &call_fast);
    give(fast_keywords, &call_fast_keywords);
  }
};

struct LockName {
  const char* name;
  LockRole role;
  bool old = false;
};
constexpr std::array kLockNames = {LockName{"acquire", LockRole::kAcquire},
                                   LockName{"acquire_lock", LockRole::kAcquire, true},
                                   LockName{"__enter__", LockRole::kAcquire},
                                   LockName{"release", LockRole::kRelease},
                                   LockName{"release_lock", LockRole::kRelease, true},
                                   LockName{"__exit__", LockRole::kRelease},
                                   LockName{"_acquire_restore", LockRole::kRestore},
                                   LockName{"_release_save", LockRole::kSave},
                                   LockName{"_at_fork_reinit", LockRole::kReset}};

// nullptr: the type has no such method.
PyMethodDef* method_named(PyTypeObject* type, const char* name) noexcept {
  const Ref found(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), name));
  if (!found) return PyErr_Clear(), nullptr;
  if (Py_TYPE(found.get()) != &PyMethodDescr_Type) return nullptr;
  auto* const descriptor = reinterpret_cast<PyMethodDescrObject*>(found.get());
  return PyDescr_TYPE(descriptor) == type ? descriptor->d_method : nullptr;
}

// Calls `act(method)` of the template above for each method of the type.
template <LockType kType, bool kOldName, typename Act>
void one_method(LockRole role, PyMethodDef& method, Act act) noexcept {
  switch (role) {
    case LockRole::kAcquire: return act(Method<kType, LockRole::kAcquire, kOldName>(), method);
    case LockRole::kRelease: return act(Method<kType, LockRole::kRelease, kOldName>(), method);
    case LockRole::kRestore: return act(Method<kType, LockRole::kRestore, false>(), method);
    case LockRole::kSave: return act(Method<kType, LockRole::kSave, false>(), method);
    case LockRole::kReset: return act(Method<kType, LockRole::kReset, false>(), method);
  }
}

template <LockType kType, typename Act>
void each_method(PyTypeObject* type, Act act) noexcept {
  for (const LockName& one : kLockNames) {
    PyMethodDef* const method = method_named(type, one.name);
    if (method == nullptr) continue;
    if (one.old) {
      one_method<kType, true>(one.role, *method, act);
    } else {
      one_method<kType, false>(one.role, *method, act);
    }
  }
}

template <LockType kType>
PyObject* allocate_lock(PyTypeObject* type, Py_ssize_t items) {
  PyObject* const lock = methods_of(kType).allocate(type, items);
  if (lock != nullptr && is_heard(kType, lock)) g_listener->made(kType, lock);
  return lock;
}

template <LockType kType>
void destroy_lock(PyObject* lock) {
  if (is_heard(kType, lock)) g_listener->destroyed(lock);
  methods_of(kType).destroy(lock);
}

// The original acquire(), by which a lock is tried.
bool find_acquire(LockMethods& methods, const PyMethodDef& method) noexcept {
  void* const function = reinterpret_cast<void*>(method.ml_meth);
  if (method.ml_flags == (METH_VARARGS | METH_KEYWORDS)) {
    methods.acquire = reinterpret_cast<KeywordMethod>(function);
  } else if (method.ml_flags == (METH_FASTCALL | METH_KEYWORDS)) {
    methods.fast_acquire = reinterpret_cast<FastKeywords>(function);
  } else {
    return false;
  }
  return true;
}

template <LockType kType>
void divert_type(PyTypeObject* type) noexcept {
  LockMethods& methods = methods_of(kType);
  PyMethodDef* const acquire = method_named(type, "acquire");
  if (acquire == nullptr || !find_acquire(methods, *acquire)) return;
  methods.allocate = type->tp_alloc;
  methods.destroy = type->tp_dealloc;
  Py_INCREF(type);
  methods.type = type;
  each_method<kType>(type, [](auto ours, PyMethodDef& method) { ours.divert(method); });
  type->tp_alloc = allocate_lock<kType>;
  type->tp_dealloc = destroy_lock<kType>;
}

template <LockType kType>
void restore_type() noexcept {
  LockMethods& methods = methods_of(kType);
  PyTypeObject* const type = methods.type;
  if (type == nullptr) return;
  each_method<kType>(type, [](auto ours, PyMethodDef& method) { ours.restore(method); });
  if (type->tp_alloc == &allocate_lock<kType>) type->tp_alloc = methods.allocate;
  if (type->tp_dealloc == &destroy_lock<kType>) type->tp_dealloc = methods.destroy;
  methods.type = nullptr;
  Py_DECREF(type);
}

}  // namespace

void divert_lock_methods(LockType type, PyTypeObject* of, const LockListener& listener) noexcept {
  if (methods_of(type).type != nullptr) return;
  if (g_not_waiting == nullptr) g_not_waiting = PyTuple_Pack(1, Py_False);
  if (g_not_waiting == nullptr) return PyErr_Clear();
  g_listener = &listener;
  switch (type) {
    case LockType::kLock: return divert_type<LockType::kLock>(of);
    case LockType::kRLock: return divert_type<LockType::kRLock>(of);
    case LockType::kSemLock: return divert_type<LockType::kSemLock>(of);
  }
}

void restore_lock_methods() noexcept {
  restore_type<LockType::kLock>();
  restore_type<LockType::kRLock>();
  restore_type<LockType::kSemLock>();
}

}  // namespace timeloom::python
