// Arguments of an engine's functions, as its watchers read them.
//
// Need the GIL. Throw std::bad_alloc.
#pragma once

#include <Python.h>

#include <string>

#include "python/interpreter/compat_frame.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/python_text.hpp"

namespace timeloom::python {

// Borrowed; null: the frame has no such argument.
inline PyObject* argument_named(InterpreterFrame* frame, const char* name) noexcept {
  const PyCodeObject* const code = code_of(frame);
  for (int i = 0; i < code->co_argcount + code->co_kwonlyargcount; ++i) {
    if (is_text(PyTuple_GET_ITEM(code->co_localsplusnames, i), name)) return argument_of(frame, i);
  }
  return nullptr;
}

// The text str(key). Empty: str() has failed.
inline std::string text_of_key(PyObject* key) {
  const Ref text(PyObject_Str(key));
  if (!text) PyErr_Clear();
  return text ? utf8_text(text.get()) : std::string();
}

}  // namespace timeloom::python
