#include "python/observe/cost/callback_times.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <climits>
#include <cstddef>
#include <utility>

#include "record/thread_recorder.hpp"

namespace timeloom::python {
namespace {

struct Callback {
  PyObject_HEAD vectorcallfunc call;  // what the interpreter calls: `function`, or timed_call
  vectorcallfunc function;
};

// The first calls in a row find in the caches what taking new space has left there.
constexpr int kCallsInARow = 400, kFirstCalls = 200;

PyObject* g_callback_type = nullptr;
// Those that may be timed. Never freed, so that any thread may write to them.
std::array<std::atomic<Callback*>, 16> g_timed{};
std::atomic<int> g_left = 0;
CallbackTimes g_times;  // guarded by the GIL
std::atomic<void (*)(bool) noexcept> g_time_frames = nullptr;

PyMemberDef kMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Callback, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot kCallbackSlots[] = {{Py_tp_members, kMembers},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {0, nullptr}};
PyType_Spec kCallbackSpec = {"timeloom._core.MonitoringCallback", sizeof(Callback), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL, kCallbackSlots};

PyObject* timed_call(PyObject* self, PyObject* const* arguments, std::size_t count,
                     PyObject* names) noexcept {
  const auto* const callback = reinterpret_cast<Callback*>(self);
  const std::uint64_t begin = os::now();
  PyObject* const result = callback->function(self, arguments, count, names);
  note_timed_events(1, os::now() - begin);
  return result;
}

void let_all_be_timed(bool timed) noexcept {
  for (const std::atomic<Callback*>& one : g_timed) {
    Callback* const callback = one.load(std::memory_order_acquire);
    if (callback == nullptr) break;
    std::atomic_ref(callback->call)
        .store(timed ? timed_call : callback->function, std::memory_order_relaxed);
  }
  if (g_time_frames != nullptr && has_main_gil()) g_time_frames(timed);
}

void time(int calls) noexcept {
#ifndef Py_GIL_DISABLED
  g_left.store(calls, std::memory_order_relaxed);
  let_all_be_timed(true);
#else
  (void)calls;
#endif
}

Callback* make_callback(vectorcallfunc function) {
  // No static of the function: its guard and the GIL could wait for each other.
  if (g_callback_type == nullptr) g_callback_type = PyType_FromSpec(&kCallbackSpec);
  if (g_callback_type == nullptr) return nullptr;
  auto* callback = PyObject_New(Callback, reinterpret_cast<PyTypeObject*>(g_callback_type));
  if (callback != nullptr) callback->call = callback->function = function;
  return callback;
}

}  // namespace

void CallbackTimes::add(int calls, std::uint64_t ticks) noexcept {
  const auto count = static_cast<std::uint64_t>(calls);
  Class& one = classes_[static_cast<std::size_t>(std::bit_width(ticks / count))];
  one.calls += count;
  one.ticks += ticks;
}

std::uint64_t CallbackTimes::calls() const noexcept {
  std::uint64_t calls = 0;
  for (const Class& one : classes_) calls += one.calls;
  return calls;
}

double CallbackTimes::mean() const noexcept {
  constexpr std::size_t kBitsAboveMedian = 4;
  const std::uint64_t half = (calls() + 1) / 2;
  Class counted;
  std::size_t most = classes_.size() - 1;
  for (std::size_t bits = 0; bits <= most && bits < classes_.size(); ++bits) {
    const bool before_median = counted.calls < half;
    counted.calls += classes_[bits].calls;
    counted.ticks += classes_[bits].ticks;
    if (before_median && counted.calls >= half) most = bits + kBitsAboveMedian;
  }
  return counted.calls > 0 ? static_cast<double>(counted.ticks) / static_cast<double>(counted.calls)
                           : 0;
}

PyObject* callback_for(vectorcallfunc function, bool timed) {
  if (!timed) return reinterpret_cast<PyObject*>(make_callback(function));
  for (std::atomic<Callback*>& one : g_timed) {
    Callback* callback = one.load(std::memory_order_relaxed);
    if (callback == nullptr) {
      callback = make_callback(function);
      if (callback == nullptr) return nullptr;
      if (g_left.load(std::memory_order_relaxed) > 0) callback->call = timed_call;
      one.store(callback, std::memory_order_release);
    }
    if (callback->function == function) return Py_NewRef(reinterpret_cast<PyObject*>(callback));
  }
  return reinterpret_cast<PyObject*>(make_callback(function));
}

void time_callbacks() noexcept { time(kCallsInARow); }
void time_all_callbacks() noexcept { time(INT_MAX); }
void stop_timing_callbacks() noexcept {
  g_left.store(0, std::memory_order_relaxed);
  let_all_be_timed(false);
}

void time_frames_by(void (*function)(bool timed) noexcept) noexcept {
  g_time_frames = function;
  if (function != nullptr && g_left.load(std::memory_order_relaxed) > 0) function(true);
}

void note_timed_events(int events, std::uint64_t ticks) noexcept {
  const int left = g_left.fetch_sub(events, std::memory_order_relaxed);
  const bool counts = left <= kCallsInARow - kFirstCalls || left > kCallsInARow;
  if (counts) g_times.add(events, ticks);
  if (left > 0 && left <= events) stop_timing_callbacks();
}

CallbackTimes callback_times() noexcept { return g_times; }
CallbackTimes take_callback_times() noexcept { return std::exchange(g_times, {}); }

}  // namespace timeloom::python
