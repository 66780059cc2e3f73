#include "python/observe/hooks/event_code.hpp"

#include <atomic>

namespace timeloom::python {
namespace {

constinit std::atomic<std::uint64_t> g_events_left_out = 0;

}  // namespace

void count_left_out_event() noexcept { g_events_left_out.fetch_add(1, std::memory_order_relaxed); }

PyObject* leave_out_event() noexcept {
  count_left_out_event();
  return Py_NewRef(Py_None);
}

std::uint64_t events_left_out() noexcept {
  return g_events_left_out.load(std::memory_order_relaxed);
}

}  // namespace timeloom::python
