// Recording by native code, on threads that do not hold the lock (in Python, the GIL) under
// which other threads touch their recorders.
//
// Functions that visit the recorders of other threads (stop(), set_recording()) wait for the
// end of a NativeCall, and calls that begin later wait for them. REQUIRES: it is short, runs no
// code of the program and calls no function of measurement.hpp that visits recorders. Used on
// one thread; does not nest.
//
// A call stores that it has begun, then looks whether somebody visits; a visitor stores that it
// visits, then looks whether somebody calls. Neither store may be seen after the load behind it.
// Visitors are rare, so they have the kernel make a barrier on all threads (os/barrier.hpp), and a
// call needs none of its own; where the kernel makes no such barriers, each call has one.
#pragma once

#include <atomic>
#include <cstdint>

#include "record/thread_recorder.hpp"

namespace timeloom::record {

namespace detail {
extern constinit std::atomic<int> g_visitors;
extern constinit std::atomic<bool> g_calls_have_barriers;
// Events of calls that did not wait for a visitor, which has the writer for itself and may destroy
// it: the end of the visit counts them as lost.
extern constinit std::atomic<std::uint64_t> g_missed_events;
}  // namespace detail

// The first step of a call: false if it must not go on, because somebody visits. Either way the
// recorder is in a call until end_native_call(). REQUIRES: it is the calling thread's own.
inline bool begin_native_call(ThreadRecorder& recorder) noexcept {
  recorder.begin_native_call();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (detail::g_calls_have_barriers.load(std::memory_order_relaxed)) [[unlikely]] {
    recorder.begin_native_call(std::memory_order_seq_cst);
    return detail::g_visitors.load(std::memory_order_seq_cst) == 0;
  }
  return detail::g_visitors.load(std::memory_order_acquire) == 0;
}

struct AtOnce {};
inline constexpr AtOnce kAtOnce{};

class NativeCall {
 public:
  // Attaches the thread if a measurement runs and it has not recorded yet.
  NativeCall() noexcept;
  // The same without waiting: nothing is measured where somebody visits, and an event counts as
  // lost, nor on a thread that has not recorded yet.
  explicit NativeCall(AtOnce) noexcept;
  ~NativeCall() {
    if (recorder_ != nullptr) recorder_->end_native_call();
  }
  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;

  // The recorder of the calling thread, attached; nullptr: nothing is measured here.
  ThreadRecorder* recorder() const noexcept { return recorder_; }

 private:
  bool begin(ThreadRecorder& recorder) noexcept;

  ThreadRecorder* recorder_ = nullptr;
};

// Whether the caller is the handler of a signal that has interrupted a native call of its thread.
bool interrupts_recorder() noexcept;

}  // namespace timeloom::record
