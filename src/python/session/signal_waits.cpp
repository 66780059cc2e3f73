#include "python/session/signal_waits.hpp"

#include "python/session/diverted_method.hpp"
#include "sample/sampler.hpp"

namespace timeloom::python {
namespace {

Diverted<PyCFunction> g_sigwait;
Diverted<PyCFunction> g_sigwaitinfo;
Diverted<PyCFunction> g_sigpending;
Diverted<Fast> g_sigtimedwait;

class WithoutTicks {
 public:
  WithoutTicks() noexcept { sample::stop_ticks_of_thread(); }
  ~WithoutTicks() { sample::start_ticks_of_thread(); }
  WithoutTicks(const WithoutTicks&) = delete;
  WithoutTicks& operator=(const WithoutTicks&) = delete;
};

PyObject* wait_for_signal(PyObject* module, PyObject* signals) {
  const WithoutTicks here;
  return g_sigwait.original(module, signals);
}

PyObject* wait_for_signal_info(PyObject* module, PyObject* signals) {
  const WithoutTicks here;
  return g_sigwaitinfo.original(module, signals);
}

PyObject* pending_signals(PyObject* module, PyObject* none) {
  const WithoutTicks here;
  return g_sigpending.original(module, none);
}

PyObject* wait_for_signal_until(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  const WithoutTicks here;
  return g_sigtimedwait.original(module, arguments, count);
}

}  // namespace

void watch_signal_waits(PyObject* signals) noexcept {
  divert(signals, "sigwait", METH_O, wait_for_signal, g_sigwait);
  divert(signals, "sigwaitinfo", METH_O, wait_for_signal_info, g_sigwaitinfo);
  divert(signals, "sigpending", METH_NOARGS, pending_signals, g_sigpending);
  divert(signals, "sigtimedwait", METH_FASTCALL, wait_for_signal_until, g_sigtimedwait);
}

void unwatch_signal_waits() noexcept {
  put_back(g_sigwait, wait_for_signal);
  put_back(g_sigwaitinfo, wait_for_signal_info);
  put_back(g_sigpending, pending_signals);
  put_back(g_sigtimedwait, wait_for_signal_until);
}

}  // namespace timeloom::python
