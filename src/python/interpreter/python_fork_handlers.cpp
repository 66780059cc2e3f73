#include "python/interpreter/python_fork_handlers.hpp"

#include <pthread.h>

#include <atomic>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {
namespace {

// The frame that forks, and where it is. Written by the thread that forks, with the control lock;
// read by the main thread. Relaxed: where another thread forks meanwhile, no mixture of the two
// looks as if the main thread forked.
struct Fork {
  std::atomic<const PyFrameObject*> frame = nullptr;  // only compared: it may be gone
  std::atomic<int> at = 0;
  std::atomic<pthread_t> thread{};
  std::atomic<int> left = 0;  // answers that the handlers still run
};
Fork g_fork;

template <typename T>
T get(const std::atomic<T>& value) noexcept {
  return value.load(std::memory_order_relaxed);
}
template <typename T>
void set(std::atomic<T>& value, T now) noexcept {
  value.store(now, std::memory_order_relaxed);
}

}  // namespace

void note_fork() noexcept {
  PyFrameObject* const frame = PyEval_GetFrame();
  constexpr int kMost = 10'000;  // a handler that takes longer than these gets a warning
  set<const PyFrameObject*>(g_fork.frame, frame);
  set(g_fork.at, frame == nullptr ? -1 : PyFrame_GetLasti(frame));
  set(g_fork.thread, pthread_self());
  set(g_fork.left, kMost);
}

bool in_fork_handlers() noexcept {
  // 3.11 would ask again before each instruction of a function that is traced, for ever.
  const PyFrameObject* const forking = get(g_fork.frame);
  if (!kWarnsOfForks || forking == nullptr) return false;
  if (g_fork.left.fetch_sub(1, std::memory_order_relaxed) <= 0) return false;
  if (pthread_equal(get(g_fork.thread), pthread_self()) == 0) return false;
  constexpr int kDeepest = 16;  // frames of a handler
  Ref frame = Ref::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  // Between two instructions of the frame that forks: its call has returned.
  if (frame.frame() == forking) return false;
  for (int i = 0; i < kDeepest && frame; ++i) {
    frame = Ref(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame.frame())));
    if (frame.frame() == forking) return frame && PyFrame_GetLasti(frame.frame()) == get(g_fork.at);
  }
  return false;
}

}  // namespace timeloom::python
