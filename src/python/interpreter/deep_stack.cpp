#include "python/interpreter/deep_stack.hpp"

namespace timeloom::python {

constinit thread_local std::uintptr_t t_stack_floor = UINTPTR_MAX;

namespace {

struct Evaluation {
  FrameEvaluator evaluator;
  PyThreadState* thread;
  InterpreterFrame* frame;
  int throwing;
  PyObject* result;
};

void evaluate_on_new_stack(void* argument, const CStack& stack) {
  auto* e = static_cast<Evaluation*>(argument);
  const std::uintptr_t floor_before = t_stack_floor;
  const int given = kCCallLimit - c_calls_left(e->thread);
  t_stack_floor = stack.floor();
  const StackProtection protection(e->thread, stack.low, stack.size);
  c_calls_left(e->thread) += given;
  e->result = e->evaluator(e->thread, e->frame, e->throwing);
  c_calls_left(e->thread) -= given;
  t_stack_floor = floor_before;
}

}  // namespace

PyObject* evaluate_with_room(FrameEvaluator evaluator, PyThreadState* thread,
                             InterpreterFrame* frame, int throwing) {
  if (t_stack_floor == UINTPTR_MAX) {
    t_stack_floor = stack_floor();
    if (!stack_runs_low(thread)) return evaluator(thread, frame, throwing);
  }
  Evaluation evaluation{evaluator, thread, frame, throwing, nullptr};
  if (call_on_new_stack(evaluate_on_new_stack, &evaluation)) return evaluation.result;
  return _PyEval_EvalFrameDefault(thread, frame, throwing);  // unobserved, as deep as it goes
}

}  // namespace timeloom::python
