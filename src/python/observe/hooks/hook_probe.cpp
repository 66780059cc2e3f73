#include "python/observe/hooks/hook_probe.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "python/interpreter/frame_hook.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"

namespace timeloom::python {
namespace {

// More often than any version takes to specialise a call.
constexpr int kCalls = 64;

// __init__ is not among them: see kInitPassesHook.
constexpr char kProbeProgram[] =
    "class Thing:\n"
    "    def __getitem__(self, key): pass\n"
    "    def __getattribute__(self, name): pass\n"
    "class Other:\n"
    "    @property\n"
    "    def value(self): pass\n"
    "    def method(self): pass\n"
    "def function(a): pass\n"
    "def with_default(a, b=1): pass\n"
    "def generator(numbers):\n"
    "    for number in numbers: yield number\n"
    "def subscripts(thing, other, numbers):\n"
    "    for _ in numbers: thing[0]\n"
    "def attributes(thing, other, numbers):\n"
    "    for _ in numbers: thing.name\n"
    "def properties(thing, other, numbers):\n"
    "    for _ in numbers: other.value\n"
    "def methods(thing, other, numbers):\n"
    "    for _ in numbers: other.method()\n"
    "def functions(thing, other, numbers):\n"
    "    for _ in numbers: function(0)\n"
    "def functions_with_defaults(thing, other, numbers):\n"
    "    for _ in numbers: with_default(0)\n"
    "def generators(thing, other, numbers):\n"
    "    for _ in generator(numbers): pass\n"
    "calls = ((Thing.__getitem__, subscripts), (Thing.__getattribute__, attributes),\n"
    "         (Other.value.fget, properties), (Other.method, methods), (function, functions),\n"
    "         (with_default, functions_with_defaults), (generator, generators))\n"
    "arguments = Thing(), Other()\n";

constinit FrameHook g_probe_hook;
PyCodeObject* g_code = nullptr;  // whose frames are counted
int g_frames = 0;

PyObject* count_frame(PyThreadState* thread, InterpreterFrame* frame, int throwing) {
  if (code_of(frame) == g_code) ++g_frames;
  return g_probe_hook.next(thread, frame, throwing);
}

// As many as reach the hook of the calls that `caller` makes; -1 with an exception set.
int calls_seen(PyObject* function, PyObject* caller, PyObject* arguments) {
  g_code = reinterpret_cast<PyCodeObject*>(PyFunction_GetCode(function));
  g_frames = 0;
  g_probe_hook.install(count_frame);
  const Ref result(PyObject_CallObject(caller, arguments));
  g_probe_hook.remove();
  return result ? g_frames : -1;
}

// Empty also when it fails: an interrupt, which is for the program, comes again.
std::string try_calls() {
  const Ref names(PyDict_New());
  const Ref code(Py_CompileString(kProbeProgram, "<probe>", Py_file_input));
  const Ref run(names && code ? PyEval_EvalCode(code.get(), names.get(), names.get()) : nullptr);
  const Ref numbers(
      run ? PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyRange_Type), "i", kCalls)
          : nullptr);
  if (!numbers) return {};
  PyObject* const things = PyDict_GetItemString(names.get(), "arguments");
  PyObject* const calls = PyDict_GetItemString(names.get(), "calls");
  const Ref arguments(
      PyTuple_Pack(3, PyTuple_GET_ITEM(things, 0), PyTuple_GET_ITEM(things, 1), numbers.get()));
  std::string kept;
  for (Py_ssize_t i = 0; arguments && i < PyTuple_GET_SIZE(calls); ++i) {
    PyObject* const pair = PyTuple_GET_ITEM(calls, i);
    PyObject* const function = PyTuple_GET_ITEM(pair, 0);
    const int seen = calls_seen(function, PyTuple_GET_ITEM(pair, 1), arguments.get());
    if (seen < 0) return {};
    if (seen >= kCalls) continue;
    kept += kept.empty() ? "" : ", ";
    kept += utf8_text(reinterpret_cast<PyFunctionObject*>(function)->func_name);
  }
  return kept;
}

}  // namespace

const std::string& calls_kept_from_hook() {
  static auto* const kKept = new std::string;
  static constinit std::atomic<bool> tried = false, known = false;
  static constinit std::atomic<pthread_t> trying{};
  if (tried.exchange(true)) {
    // Other threads run meanwhile, and have to wait; a signal handler of the program cannot.
    while (!known && trying != pthread_self()) {
      Py_BEGIN_ALLOW_THREADS;
      ::usleep(100);
      Py_END_ALLOW_THREADS;
    }
    return *kKept;
  }
  trying = pthread_self();
  const ErrorGuard guard;
  const Unobserved nothing_of_this;
  *kKept = try_calls();
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0) {
    PyErr_SetInterrupt();
  }
  PyErr_Clear();
  known = true;
  return *kKept;
}

}  // namespace timeloom::python
