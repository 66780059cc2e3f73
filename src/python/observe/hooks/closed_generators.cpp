#include "python/observe/hooks/closed_generators.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "python/interpreter/compat_depth.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/observe/interpreters/sub_monitoring.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/tasks/tasks.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {
namespace {

constinit std::atomic<bool> g_watching_generators = false;
bool g_installed = false;

// The object it delegates to: `yield from`, `await`. Empty: nothing.
Ref awaited_by(PyObject* generator) {
  const char* name = PyGen_CheckExact(generator)    ? "gi_yieldfrom"
                     : PyCoro_CheckExact(generator) ? "cr_await"
                                                    : "ag_await";
  Ref awaited(PyObject_GetAttrString(generator, name));
  PyErr_Clear();
  return awaited.get() == Py_None ? Ref() : std::move(awaited);
}

bool is_closed_directly(PyObject* object) noexcept {
  return PyGen_CheckExact(object) || PyCoro_CheckExact(object);
}

void record_visit(PyObject* generator) noexcept {
  PyCodeObject* code = code_of_generator(generator);
  EventWord word = known_word(code);
  if (word == 0) word = decide_word(code, globals_of(frame_of_generator(generator)));
  const bool asks = tasks_are_tracks() && is_awaitable(code);
  InterpreterFrame* closer = current_frame(PyThreadState_Get());
  if (asks && !task_step_begins(generator, closer, false)) word = kExcluded;
  if (is_region(word)) {
    enter_code(code, word);
    record::t_recorder->leave(token_of(code));
  }
  if (asks) task_step_ends(generator);
}

// Before `generator` is closed. The interpreter closes what it waits for first, and that
// is all that it may do without running a frame.
void before_closing(PyObject* generator) noexcept {
  PyThreadState* thread = PyThreadState_Get();
  if (!g_watching_generators.load(std::memory_order_relaxed) || is_tracing(thread)) return;
  const ErrorGuard guard;
  Ref innermost = Ref::borrow(generator);
  while (is_delegating(innermost.get())) {
    innermost = awaited_by(innermost.get());
    if (!innermost || !is_closed_directly(innermost.get())) return;
  }
  if (!is_closed_unobserved(innermost.get())) return;
  // Other interpreters of the process have the same types.
  const bool in_main = PyThreadState_GetInterpreter(thread) == PyInterpreterState_Main();
  in_main ? record_visit(innermost.get()) : visit_in_sub_interpreter(innermost.get());
}

using FastFunction = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);

// The types whose objects are closed, and what closes them.
struct Closing {
  PyTypeObject* type;
  void (*finalize)(PyObject*) = nullptr;
  PyCFunction close = nullptr;
  FastFunction throw_into = nullptr;
};
Closing g_closing[] = {{&PyGen_Type}, {&PyCoro_Type}, {&PyAsyncGen_Type}};

template <int kType>
void finalize(PyObject* generator) {
  before_closing(generator);
  g_closing[kType].finalize(generator);
}

template <int kType>
PyObject* close(PyObject* generator, PyObject* none) {
  before_closing(generator);
  return g_closing[kType].close(generator, none);
}

// GeneratorExit closes what a generator waits for, and runs the generator itself.
template <int kType>
PyObject* throw_into(PyObject* generator, PyObject* const* arguments, Py_ssize_t count) {
  if (count > 0 && is_delegating(generator) &&
      PyErr_GivenExceptionMatches(arguments[0], PyExc_GeneratorExit) != 0) {
    before_closing(generator);
  }
  return g_closing[kType].throw_into(generator, arguments, count);
}

template <typename Function>
PyCFunction as_method(Function function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

template <int kType>
void put_in_place() noexcept {
  Closing& closing = g_closing[kType];
  closing.finalize = std::exchange(closing.type->tp_finalize, finalize<kType>);
  for (PyMethodDef* method = closing.type->tp_methods; method->ml_name != nullptr; ++method) {
    if (std::strcmp(method->ml_name, "close") == 0 && method->ml_flags == METH_NOARGS) {
      closing.close = std::exchange(method->ml_meth, close<kType>);
    }
    if (std::strcmp(method->ml_name, "throw") == 0 && method->ml_flags == METH_FASTCALL) {
      const PyCFunction before = std::exchange(method->ml_meth, as_method(throw_into<kType>));
      closing.throw_into = reinterpret_cast<FastFunction>(reinterpret_cast<void (*)()>(before));
    }
  }
}

}  // namespace

// For good: where nobody watches, they do what they always did.
void watch_closing(bool on) noexcept {
  g_watching_generators = on;
  if (!on || g_installed || !closes_unobserved()) return;
  g_installed = true;
  with_world_stopped([] {
    put_in_place<0>();
    put_in_place<1>();
    put_in_place<2>();
  });
}

}  // namespace timeloom::python
