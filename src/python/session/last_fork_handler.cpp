#include "python/session/last_fork_handler.hpp"

#include <atomic>

#include "python/session/diverted_method.hpp"

namespace timeloom::python {
namespace {

Diverted<FastKeywords> g_register;
// Handlers may have been registered since Timeloom's. They are called in the order of registration.
std::atomic<bool> g_others = true;

PyObject* register_handler(PyObject* module, PyObject* const* arguments, Py_ssize_t count,
                           PyObject* names) {
  g_others = true;
  PyObject* const result = g_register.original(module, arguments, count, names);
  g_others = true;  // a fork of another thread may have moved Timeloom's handler forward
  return result;
}

}  // namespace

void watch_fork_handlers(PyObject* posix) noexcept {
  g_others = true;
  divert(posix, "register_at_fork", METH_FASTCALL | METH_KEYWORDS, register_handler, g_register);
}

void unwatch_fork_handlers() noexcept { put_back(g_register, register_handler); }

void call_after_fork_handlers(PyObject* handler) noexcept {
  if (g_register.original == nullptr || !g_others.exchange(false)) return;
  const Ref names(Py_BuildValue("(s)", "after_in_child"));
  const Ref none(names ? g_register.original(nullptr, &handler, 0, names.get()) : nullptr);
  if (none) return;
  PyErr_Clear();
  g_others = true;  // the next fork tries again
}

}  // namespace timeloom::python
