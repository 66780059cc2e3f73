// A frame-evaluation hook (PEP 523) of ours, chained with the hooks of other tools. Needs the GIL.
#pragma once

#include <atomic>

#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

class FrameHook {
 public:
  // REQUIRES: it is not installed, or with the same function.
  void install(FrameEvaluator own) noexcept {
    own_ = own;
    const FrameEvaluator top = present();
    // The hook on top of ours calls it; to put ours on top again would make a ring.
    if (buried_ && top != own_ && top != _PyEval_EvalFrameDefault) return;
    buried_ = false;
    if (top == own_) return;
    next_.store(top, std::memory_order_relaxed);
    passed_over_ = top != _PyEval_EvalFrameDefault && calls_pass_over_hook();
    put(own_);
    if (passed_over_) let_calls_pass_over_hook(false);
  }
  void remove() noexcept {
    if (present() == own_) {
      put(next_.load(std::memory_order_relaxed));
      if (passed_over_) let_calls_pass_over_hook(true);
    } else {
      buried_ = true;
    }
  }
  // Puts another function in its place, where no other hook lies on top. REQUIRES: installed.
  void replace(FrameEvaluator own) noexcept {
    if (present() != own_) return;
    own_ = own;
    put(own_);
  }
  // Goes on to the hook that was there before.
  PyObject* next(PyThreadState* thread, InterpreterFrame* frame, int throwing) const {
    return next_.load(std::memory_order_relaxed)(thread, frame, throwing);
  }

 private:
  static FrameEvaluator present() noexcept {
    return _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get());
  }
  // Without a GIL other threads read the hook meanwhile; the interpreter handles this, and may stop
  // them for it, so the caller must not have stopped them.
  static void put(FrameEvaluator hook) noexcept {
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), hook);
  }

  FrameEvaluator own_ = nullptr;
  // Relaxed: any value that it has had is a function to go on with.
  std::atomic<FrameEvaluator> next_ = _PyEval_EvalFrameDefault;
  bool passed_over_ =
      false;             // that hook is not called for every call, as whoever installed it wants
  bool buried_ = false;  // it could not be removed, since another lay on top
};

}  // namespace timeloom::python
