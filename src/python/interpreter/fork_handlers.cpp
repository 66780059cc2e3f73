#include "python/interpreter/fork_handlers.hpp"

#include <pthread.h>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {
namespace {

// The frame that forks, and where it is. Only compared: it may be gone.
struct Fork {
  const PyFrameObject* frame = nullptr;
  int at = 0;
  pthread_t thread{};
  int left = 0;  // answers that the handlers still run
};
Fork g_fork;  // guarded by the GIL, and by the control lock between the handlers

}  // namespace

void note_fork() noexcept {
  PyFrameObject* const frame = PyEval_GetFrame();
  constexpr int kMost = 10'000;  // a handler that takes longer than these gets a warning
  g_fork = {frame, frame == nullptr ? -1 : PyFrame_GetLasti(frame), pthread_self(), kMost};
}

bool in_fork_handlers() noexcept {
  // 3.11 would ask again before each instruction of a function that is traced, for ever.
  if (!kWarnsOfForks || g_fork.frame == nullptr || g_fork.left-- <= 0) return false;
  if (pthread_equal(g_fork.thread, pthread_self()) == 0) return false;
  constexpr int kDeepest = 16;  // frames of a handler
  Ref frame = Ref::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  // Between two instructions of the frame that forks: its call has returned.
  if (frame.frame() == g_fork.frame) return false;
  for (int i = 0; i < kDeepest && frame; ++i) {
    frame = Ref(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame.frame())));
    if (frame.frame() == g_fork.frame) return frame && PyFrame_GetLasti(frame.frame()) == g_fork.at;
  }
  return false;
}

}  // namespace timeloom::python
