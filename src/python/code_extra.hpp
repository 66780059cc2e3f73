// What a code object carries for us: a word for each set of rules, at an index that the
// interpreter gives. It dies with the code object.
//
// Needs the GIL. On builds without one any thread may load while one stores.
#pragma once

#include "core/event_word.hpp"
#include "python/compat.hpp"

namespace timeloom::python {

// A new index, or -1 when the interpreter has none left.
inline Py_ssize_t new_code_extra_index() noexcept {
#if PY_VERSION_HEX >= 0x030c0000
  return PyUnstable_Eval_RequestCodeExtraIndex(nullptr);
#else
  return _PyEval_RequestCodeExtraIndex(nullptr);
#endif
}

#if PY_VERSION_HEX < 0x030e0000

// The layout behind co_extra, the same from 3.6 to 3.13. Reading it here saves a call
// per event.
struct CodeExtra {
  Py_ssize_t size;
  void* values[1];
};

#ifdef Py_GIL_DISABLED
inline constexpr int kLoadExtra = __ATOMIC_ACQUIRE;
#else
inline constexpr int kLoadExtra = __ATOMIC_RELAXED;
#endif

// 0 when nothing was stored yet.
inline EventWord load_code_extra(PyCodeObject* code, Py_ssize_t index) noexcept {
  const auto* extra = static_cast<CodeExtra*>(__atomic_load_n(&code->co_extra, kLoadExtra));
  if (extra == nullptr || extra->size <= index) return 0;
  return reinterpret_cast<EventWord>(__atomic_load_n(&extra->values[index], __ATOMIC_RELAXED));
}

#else

inline EventWord load_code_extra(PyCodeObject* code, Py_ssize_t index) noexcept {
  void* value = nullptr;
  if (PyUnstable_Code_GetExtra(reinterpret_cast<PyObject*>(code), index, &value) != 0) {
    PyErr_Clear();
  }
  return reinterpret_cast<EventWord>(value);
}

#endif

// False: there is no memory.
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX < 0x030e0000

// 3.13 itself would free what others may be reading when it makes room. Here the old
// room stays: a few bytes for each code object that meets other rules.
inline bool store_code_extra(PyCodeObject* code, Py_ssize_t index, EventWord word) noexcept {
  auto* extra = static_cast<CodeExtra*>(code->co_extra);
  if (extra == nullptr || extra->size <= index) {
    const auto values = static_cast<std::size_t>(index) + 1;
    auto* room = static_cast<CodeExtra*>(PyMem_Calloc(1 + values, sizeof(void*)));
    if (room == nullptr) return false;
    room->size = index + 1;
    for (Py_ssize_t i = 0; extra != nullptr && i < extra->size; ++i) {
      room->values[i] = extra->values[i];
    }
    __atomic_store_n(&code->co_extra, room, __ATOMIC_RELEASE);
    extra = room;
  }
  __atomic_store_n(&extra->values[index], reinterpret_cast<void*>(word), __ATOMIC_RELAXED);
  return true;
}

#else

inline bool store_code_extra(PyCodeObject* code, Py_ssize_t index, EventWord word) noexcept {
  auto* object = reinterpret_cast<PyObject*>(code);
  auto* value = reinterpret_cast<void*>(word);
#if PY_VERSION_HEX >= 0x030c0000
  const int result = PyUnstable_Code_SetExtra(object, index, value);
#else
  const int result = _PyCode_SetExtra(object, index, value);
#endif
  if (result != 0) PyErr_Clear();
  return result == 0;
}

#endif

}  // namespace timeloom::python
