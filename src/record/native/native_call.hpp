// Recording by native code, on threads that do not hold the lock (in Python, the GIL) under
// which other threads touch their recorders.
//
// Functions that visit the recorders of other threads (stop(), set_recording()) wait for the
// end of a NativeCall, and calls that begin later wait for them. REQUIRES: it is short, runs no
// code of the program and calls no function of measurement.hpp that visits recorders. Used on
// one thread; does not nest. Costs a sequentially consistent store.
#pragma once

#include "record/thread_recorder.hpp"

namespace timeloom::record {

class NativeCall {
 public:
  // Attaches the thread if a measurement runs and it has not recorded yet.
  NativeCall() noexcept;
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
