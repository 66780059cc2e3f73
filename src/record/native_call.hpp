// Recording from native code: from threads that hold no lock under which others touch
// their recorders (in Python, the GIL).
//
// While a NativeCall lives its thread is not interrupted by stop(), set_recording() and
// whatever else visits the recorders of other threads; these wait for it, and later ones
// wait for them. So it has to be short, and must neither run code of the program nor
// call a function of measurement.hpp that visits recorders. Used on one thread; does
// not nest. Costs a store that is ordered with all others, some 5 ns.
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

}  // namespace timeloom::record
