#include "python/observe/calibration.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include "python/observe/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

constexpr int kCalls = 1000;
constexpr int kRepetitions = 5;
constexpr char kProgram[] =
    "def empty():\n"
    "    pass\n"
    "def loop(function):\n"
    "    for _ in range(1000):\n"
    "        function()\n";

// Decides for a function without defining a region in the run.
void mark(PyObject* function, std::uint64_t kept) {
  store_code_extra(reinterpret_cast<PyCodeObject*>(PyFunction_GetCode(function)), code_index(),
                   kept);
}

int raise_again(void* exception) {
  const Ref value(static_cast<PyObject*>(exception));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(value.get())), value.get());
  return -1;
}

// A signal handler of the program may raise in our loop. That comes a moment later
// then, as if the signal did; what we ran out of ourselves is nobody's business.
void put_off_exception() noexcept {
  const bool ours = PyErr_ExceptionMatches(PyExc_RecursionError) != 0 ||
                    PyErr_ExceptionMatches(PyExc_MemoryError) != 0;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const Ref owned_type(type), owned_traceback(traceback);
  Ref owned_value(value);
  if (ours || !owned_value) return;
  PyException_SetTraceback(value, Py_None);
  if (::gettid() != ::getpid()) {
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), type);
  } else if (Py_AddPendingCall(raise_again, value) == 0) {
    owned_value.release();  // raise_again() owns it
  }
}

double best_seconds(PyObject* loop, PyObject* empty) {
  std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < kRepetitions; ++i) {
    const std::uint64_t before = record::monotonic_ns();
    const Ref result(PyObject_CallOneArg(loop, empty));
    if (!result) return put_off_exception(), 0;
    best = std::min(best, record::monotonic_ns() - before);
  }
  return static_cast<double>(best) * 1e-9;
}

// Routes this thread's events to memory of its own while it lives.
class Scratch {
 public:
  Scratch() : words_(4 * kCalls * kRepetitions) {
    recorder_.attach_scratch(words_);
    previous_ = record::exchange_recorder(&recorder_);
  }
  ~Scratch() {
    record::exchange_recorder(previous_);
    recorder_.abandon();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  std::vector<std::uint64_t> words_;
  record::ThreadRecorder recorder_;
  record::ThreadRecorder* previous_ = nullptr;
};

}  // namespace

namespace {

// The time that the interpreter takes longer for all calls while it is observed, and how
// often it called us meanwhile for something that is not recorded.
struct Extra {
  double seconds = 0;
  double ignored_callbacks = 0;
};

Extra extra_of(const Instrumenter& instrumenter, PyObject* loop, PyObject* function) {
  const double plain = best_seconds(loop, function);
  if (plain == 0) return {};
  const Scratch scratch;
  if (!instrumenter.install({})) return PyErr_Clear(), Extra{};
  const std::uint64_t before = instrumenter.ignored_callbacks();
  const double measured = best_seconds(loop, function);
  const auto ignored_callbacks = static_cast<double>(instrumenter.ignored_callbacks() - before);
  instrumenter.uninstall();
  return {std::max(measured - plain, 0.0), ignored_callbacks / kRepetitions};
}

}  // namespace

EventCost calibrate_events(const Instrumenter& instrumenter) noexcept try {
  const ErrorGuard guard;
  const Ref names(PyDict_New());
  // Not PyRun_String: python takes from the last code run by it whether a
  // KeyboardInterrupt has ended the program.
  const Ref code(Py_CompileString(kProgram, "<calibration>", Py_file_input));
  const Ref run(names && code ? PyEval_EvalCode(code.get(), names.get(), names.get()) : nullptr);
  if (!run) return put_off_exception(), EventCost{};
  PyObject* empty = PyDict_GetItemString(names.get(), "empty");  // borrowed, as loop
  PyObject* loop = PyDict_GetItemString(names.get(), "loop");
  const Ref builtin = Ref::borrow(PyDict_GetItemString(PyEval_GetBuiltins(), "globals"));
  mark(empty, ready_from() | make_word(WordKind::kEnter, 0));
  mark(loop, kExcluded);
  EventCost cost;
  if (builtin) {
    const Extra extra = extra_of(instrumenter, loop, builtin.get());
    if (extra.ignored_callbacks > 0) cost.ignored_seconds = extra.seconds / extra.ignored_callbacks;
  }
  const Extra extra = extra_of(instrumenter, loop, empty);
  const double others = extra.ignored_callbacks * cost.ignored_seconds;
  cost.event_seconds = std::max(extra.seconds - others, 0.0) / (2.0 * kCalls);
  return cost;
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace timeloom::python
