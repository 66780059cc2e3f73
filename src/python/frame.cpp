// Instrumenter "frame": a frame-evaluation hook (PEP 523).
//
// The cheapest hook there is, since one C function sees both ends of a call. A
// hook that somebody else installed before is called in place of the default.
#include "python/code_regions.hpp"
#include "python/instrumenter.hpp"
#include "python/thread_names.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {
namespace {

FrameEvaluator g_next = _PyEval_EvalFrameDefault;
// False while paused: frames that are under way return here all the same.
bool g_watching = false;

[[gnu::noinline, gnu::cold]] EventWord first_seen(PyCodeObject* code,
                                                  InterpreterFrame* frame) noexcept {
  const ErrorGuard guard;
  return decide_word(code, globals_of(frame));
}

// The first event of a thread: `frame` is not yet the current one.
[[gnu::noinline, gnu::cold]] void enter_first(InterpreterFrame* frame, record::Token token,
                                              EventWord word) noexcept {
  note_first_frame(frame);
  record::t_recorder->enter(token, word);
  note_first_frame(nullptr);
}

PyObject* evaluate(PyThreadState* thread, InterpreterFrame* frame, int throwing) {
  PyCodeObject* code = code_of(frame);
  EventWord word = known_word(code);
  if (!is_region(word)) [[unlikely]] {
    if (word == 0) word = first_seen(code, frame);
    if (!is_region(word)) return g_next(thread, frame, throwing);
  }
  if (!g_watching || creates_generator(frame, code)) [[unlikely]] return g_next(thread, frame, throwing);
  const record::Token token = token_of(code);
  if (record::t_recorder->attached()) [[likely]] {
    record::t_recorder->enter(token, word);
  } else {
    enter_first(frame, token, word);
  }
  PyObject* result = g_next(thread, frame, throwing);
  record::ThreadRecorder* recorder = record::t_recorder;
  if (g_watching && !recorder->leave_last(token)) [[unlikely]] recorder->leave_outer(token);
  return result;
}

bool install(bool) {
  PyInterpreterState* interpreter = PyInterpreterState_Get();
  const FrameEvaluator present = _PyInterpreterState_GetEvalFrameFunc(interpreter);
  if (present != evaluate) {
    g_next = present;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
  }
  g_watching = true;
  return true;
}

void uninstall() {
  g_watching = false;
  PyInterpreterState* interpreter = PyInterpreterState_Get();
  // If another hook was put on top of ours, it goes on calling us.
  if (_PyInterpreterState_GetEvalFrameFunc(interpreter) == evaluate) {
    _PyInterpreterState_SetEvalFrameFunc(interpreter, g_next);
  }
}

}  // namespace

const Instrumenter kFrame{"frame", false, install, uninstall};

}  // namespace timeloom::python
