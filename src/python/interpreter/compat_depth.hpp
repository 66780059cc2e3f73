// How deep the calls of a thread may nest, and how CPython counts them.
//
// As compat.hpp: all functions need the GIL (or an attached thread state).
#pragma once

#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

// Code that the interpreter runs on behalf of a trace or profile function is not traced.
inline bool is_tracing(PyThreadState* thread) noexcept { return thread->tracing != 0; }

// How many calls a thread may still nest; the interpreter refuses a frame at 0.
inline int calls_left(PyThreadState* thread) noexcept {
#if PY_VERSION_HEX >= 0x030c0000
  return thread->py_recursion_remaining;
#else
  return thread->recursion_remaining;
#endif
}

// The interpreter's protection of the C stack: none but the count above (3.11),
// a count of C calls of its own (3.12, 3.13), the addresses of the stack.
enum class StackGuard { kNone, kCount, kAddress };
#if PY_VERSION_HEX >= 0x030e0000
inline constexpr StackGuard kStackGuard = StackGuard::kAddress;
inline constexpr int kCCallLimit = 0;
#elif PY_VERSION_HEX >= 0x030d0000
inline constexpr StackGuard kStackGuard = StackGuard::kCount;
inline constexpr int kCCallLimit = Py_C_RECURSION_LIMIT;
#elif PY_VERSION_HEX >= 0x030c0000
inline constexpr StackGuard kStackGuard = StackGuard::kCount;
inline constexpr int kCCallLimit = C_RECURSION_LIMIT;
#else
inline constexpr StackGuard kStackGuard = StackGuard::kNone;
inline constexpr int kCCallLimit = 0;
#endif
// Only with StackGuard::kCount.
inline int& c_calls_left(PyThreadState* thread) noexcept {
#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030e0000
  return thread->c_recursion_remaining;
#else
  static int none = 0;
  return (void)thread, none;
#endif
}

// The part of the C stack that the interpreter takes for a thread's own (StackGuard::kAddress).
class StackProtection {
 public:
  // Makes it `size` bytes from `low` on, as long as this lives.
  StackProtection([[maybe_unused]] PyThreadState* thread, [[maybe_unused]] char* low,
                  [[maybe_unused]] std::size_t size) noexcept
#if PY_VERSION_HEX >= 0x030e0000
      : thread_(reinterpret_cast<_PyThreadStateImpl*>(thread)),
        before_{thread_->c_stack_top, thread_->c_stack_soft_limit, thread_->c_stack_hard_limit} {
    if (PyUnstable_ThreadState_SetStackProtection(thread, low, size) != 0) PyErr_Clear();
  }
  ~StackProtection() {
    thread_->c_stack_top = before_.top;
    thread_->c_stack_soft_limit = before_.soft_limit;
    thread_->c_stack_hard_limit = before_.hard_limit;
  }

 private:
  _PyThreadStateImpl* thread_;
  struct {
    std::uintptr_t top, soft_limit, hard_limit;
  } before_;

 public:
#else
  {
  }
#endif
  StackProtection(const StackProtection&) = delete;
  StackProtection& operator=(const StackProtection&) = delete;
};

// As long as it lives, code runs as if nothing had called it: it finds no frame
// below its own and the whole recursion limit for itself. To be made and
// destroyed in the same C function, outermost Python code running between.
class BareStack {
 public:
  BareStack() noexcept : thread_(PyThreadState_Get()), frame_(current_frame()) {
#if PY_VERSION_HEX >= 0x030f0000
    current_frame() = thread_->base_frame;  // the sentinel below all frames
#else
    current_frame() = nullptr;
#endif
    exchange_depths(1);
  }
  ~BareStack() {
    current_frame() = frame_;
    exchange_depths(-1);
  }
  BareStack(const BareStack&) = delete;
  BareStack& operator=(const BareStack&) = delete;

 private:
#if PY_VERSION_HEX >= 0x030d0000
  _PyInterpreterFrame*& current_frame() noexcept { return thread_->current_frame; }
#else
  _PyInterpreterFrame*& current_frame() noexcept { return thread_->cframe->current_frame; }
#endif
  // Gives back the depth used so far, or (-1) takes it away again.
  void exchange_depths(int direction) noexcept {
#if PY_VERSION_HEX >= 0x030c0000
    if (direction > 0) {
      depth_ = thread_->py_recursion_limit - thread_->py_recursion_remaining;
      c_depth_ = kCCallLimit - c_calls_left(thread_);
    }
    thread_->py_recursion_remaining += direction * depth_;
    c_calls_left(thread_) += direction * c_depth_;
#else
    if (direction > 0) depth_ = thread_->recursion_limit - thread_->recursion_remaining;
    thread_->recursion_remaining += direction * depth_;
#endif
  }
  PyThreadState* thread_;
  _PyInterpreterFrame* frame_;
  int depth_ = 0;
  [[maybe_unused]] int c_depth_ = 0;
};

}  // namespace timeloom::python
