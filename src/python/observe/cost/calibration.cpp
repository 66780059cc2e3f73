#include "python/observe/cost/calibration.hpp"

#include <marshal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "python/interpreter/errors.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

constexpr int kFewEvents = 10000;
constexpr int kTurns = 5;
constexpr int kRuns = 3;                  // of a program, plain and observed, in each turn
constexpr std::size_t kMostWords = 4096;  // that so many runs record

// c_calls(): calls that may be reported and are not recorded.
constexpr char kCalibrationProgram[] =
    "class Item:\n"
    "    def __init__(self, value):\n"
    "        self.value = value\n"
    "    def get(self):\n"
    "        return self.value\n"
    "def number(value, step=1):\n"
    "    return value + step\n"
    "def numbers(count):\n"
    "    for value in range(count):\n"
    "        yield number(value)\n"
    "def total(items):\n"
    "    result = 0\n"
    "    for item in items:\n"
    "        result += item.get()\n"
    "    return result\n"
    "def mixture():\n"
    "    for _ in range(5):\n"
    "        items = []\n"
    "        for value in numbers(6):\n"
    "            items.append(Item(value))\n"
    "        items.sort(key=Item.get)\n"
    "        total(items)\n"
    "def leaves():\n"
    "    for value in range(200):\n"
    "        number(value)\n"
    "def c_calls():\n"
    "    function = globals\n"
    "    for _ in range(100):\n"
    "        function()\n"
    "observed = Item.__init__, Item.get, number, numbers, total\n"
    "unobserved = mixture, leaves, c_calls\n";

// Of the size that functions of programs have: the interpreter rewrites their code.
constexpr char kFunction[] =
    "def function():\n"
    "    values, flag = (), False\n"
    "    for value in values:\n"
    "        try:\n"
    "            print(value.name, value.size + 1)\n"
    "        except ValueError:\n"
    "            return value[1:] if flag else value\n"
    "    return values\n";
constexpr int kCalibrationFunctions = 6;

// Decides for a code object without defining a region in the run.
void mark_code(PyObject* code, std::uint64_t kept) {
  store_code_extra(reinterpret_cast<PyCodeObject*>(code), code_index(), kept);
}
std::uint64_t observed() noexcept { return ready_from() | make_word(WordKind::kEnter, 0); }

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

// Routes this thread's events to memory of its own while it lives.
class Scratch {
 public:
  Scratch() : words_(kMostWords) {
    recorder_.attach_scratch(words_);
    previous_ = record::exchange_recorder(&recorder_);
  }
  ~Scratch() {
    record::exchange_recorder(previous_);
    recorder_.abandon();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::uint64_t events() const noexcept { return count_events(words_); }
  // The words recorded so far.
  std::size_t used() const noexcept {
    return static_cast<std::size_t>(std::ranges::find(words_, EventWord{0}) - words_.begin());
  }
  // Of the time between the events in words [from, end), the part in visits without others inside.
  double share_of_leaves(std::size_t from, std::size_t end) const noexcept {
    std::uint64_t inside = 0, last = 0;
    WordKind before = WordKind::kEnd;
    for (std::size_t i = from; i < end; ++i) {
      const WordKind kind = kind_of(words_[i]);
      if (kind == WordKind::kExtended) {
        i += extended_words_of(words_[i]);
        continue;
      }
      const std::uint64_t time = delta_of(words_[i]);
      if (kind == WordKind::kLeave && before == WordKind::kEnter) inside += time - last;
      before = kind;
      last = time;
    }
    const std::uint64_t all = from < end ? last - delta_of(words_[from]) : 0;
    return all > 0 ? static_cast<double>(inside) / static_cast<double>(all) : 0;
  }

 private:
  std::vector<std::uint64_t> words_;
  record::ThreadRecorder recorder_;
  record::ThreadRecorder* previous_ = nullptr;
};

class Failed {};  // the exception has been put off

// The program's seconds.
template <typename Program>
double seconds_of(const Program& program) {
  const std::uint64_t before = record::monotonic_ns();
  if (!program()) {
    put_off_exception();
    throw Failed();
  }
  return static_cast<double>(record::monotonic_ns() - before) * 1e-9;
}

// The time by which a program takes longer while it is observed, with how many events,
// and calls of us that record nothing.
struct Extra {
  double seconds = 0;
  double events = 0;
  double ignored = 0;
  double inside = 0;  // of a program that calls leaves only: the seconds that visits are longer
};

double median(std::vector<double>& values) noexcept {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return std::max(*middle, 0.0);
}

struct Run {
  double seconds = 0;
  std::size_t begin = 0, end = 0;  // the words of `scratch` that it recorded
};

// The shortest of kRuns: what disturbs one lengthens it. The first does not count, since the
// interpreter rewrites code that is now observed, or no longer is.
template <typename Program>
Run shortest_run(const Program& program, const Scratch* scratch = nullptr) {
  Run shortest;
  for (int i = 0; i < kRuns; ++i) {
    Run run;
    if (scratch != nullptr) run.begin = scratch->used();
    run.seconds = seconds_of(program);
    if (scratch != nullptr) run.end = scratch->used();
    if (i < 2 || run.seconds < shortest.seconds) shortest = run;
  }
  return shortest;
}

// The median over turns.
template <typename Program>
Extra extra_of(const Instrumenter& instrumenter, const Program& program, int turns) {
  Extra extra;
  std::vector<double> seconds, inside;
  for (int turn = 0; turn < turns; ++turn) {
    const double plain = shortest_run(program).seconds;
    const Scratch scratch;
    if (!instrumenter.install({})) return PyErr_Clear(), Extra{};
    const std::uint64_t ignored_before = instrumenter.ignored_callbacks();
    try {
      const Run observed = shortest_run(program, &scratch);
      seconds.push_back(observed.seconds - plain);
      // Half of what a plain call takes is the callee's.
      inside.push_back(observed.seconds * scratch.share_of_leaves(observed.begin, observed.end) -
                       plain / 2);
    } catch (const Failed&) {
      instrumenter.uninstall();
      throw;
    }
    extra.ignored = static_cast<double>(instrumenter.ignored_callbacks() - ignored_before) / kRuns;
    instrumenter.uninstall();
    extra.events = static_cast<double>(scratch.events()) / kRuns;
  }
  extra.seconds = median(seconds);
  extra.inside = median(inside);
  return extra;
}

// The namespace of kProgram, or of kFunction; null with an exception set.
Ref names_of(const char* program) {
  Ref names(PyDict_New());
  // Not PyRun_String: python takes from the last code run by it whether a
  // KeyboardInterrupt has ended the program.
  const Ref code(Py_CompileString(program, "<calibration>", Py_file_input));
  const Ref run(names && code ? PyEval_EvalCode(code.get(), names.get(), names.get()) : nullptr);
  return run ? std::move(names) : Ref();
}

void mark_all(PyObject* functions, std::uint64_t kept) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(functions); ++i) {
    mark_code(PyFunction_GetCode(PyTuple_GET_ITEM(functions, i)), kept);
  }
}

// Called for the first time, each run with other code objects.
double first_call_seconds(const Instrumenter& instrumenter, int turns, double event_seconds) {
  const Ref names(names_of(kFunction));
  if (!names) throw PythonError();
  PyObject* function = PyDict_GetItemString(names.get(), "function");  // borrowed
  const Ref bytes(PyMarshal_WriteObjectToString(PyFunction_GetCode(function), Py_MARSHAL_VERSION));
  if (!bytes) throw PythonError();
  std::vector<Ref> codes;
  for (int i = 0; i < 2 * turns * kRuns * kCalibrationFunctions; ++i) {
    codes.emplace_back(PyMarshal_ReadObjectFromString(PyBytes_AS_STRING(bytes.get()),
                                                      PyBytes_GET_SIZE(bytes.get())));
    if (!codes.back()) throw PythonError();
    mark_code(codes.back().get(), observed());
  }
  auto next = codes.begin();
  const auto call_each_once = [&] {
    for (int i = 0; i < kCalibrationFunctions; ++i, ++next) {
      if (!Ref(PyEval_EvalCode(next->get(), names.get(), names.get()))) return false;
    }
    return true;
  };
  const Extra extra = extra_of(instrumenter, call_each_once, turns);
  return std::max(extra.seconds - extra.events * event_seconds, 0.0) / kCalibrationFunctions;
}

// The functions of kProgram.
class Programs {
 public:
  explicit Programs(int turns) : turns_(turns), names_(names_of(kCalibrationProgram)) {
    if (!names_) throw PythonError();
    mark_all(item("observed"), observed());
    mark_all(item("unobserved"), kExcluded);
  }
  Extra extra(const Instrumenter& instrumenter, const char* name) const {
    const auto call = [function = item(name)] {
      return static_cast<bool>(Ref(PyObject_CallNoArgs(function)));
    };
    return extra_of(instrumenter, call, turns_);
  }

 private:
  PyObject* item(const char* name) const { return PyDict_GetItemString(names_.get(), name); }
  int turns_;
  Ref names_;
};

double event_seconds(const Programs& programs, const Instrumenter& instrumenter,
                     double ignored_seconds) {
  const Extra mixture = programs.extra(instrumenter, "mixture");
  if (mixture.events == 0) return 0;
  return std::max(mixture.seconds - mixture.ignored * ignored_seconds, 0.0) / mixture.events;
}

double callback_ticks(const Programs& programs, const Instrumenter& instrumenter) {
  (void)take_callback_times();
  time_all_callbacks();
  (void)programs.extra(instrumenter, "mixture");
  stop_timing_callbacks();
  return take_callback_times().mean();
}

EventCost measure_events(const Instrumenter& instrumenter, int turns) {
  const Programs programs(turns);
  EventCost cost;
  const os::ClockSync begin = os::sync_clocks();
  cost.callback_ticks = callback_ticks(programs, instrumenter);
  const Extra c_calls = programs.extra(instrumenter, "c_calls");
  if (c_calls.ignored > 0) cost.ignored_seconds = c_calls.seconds / c_calls.ignored;
  cost.event_seconds = event_seconds(programs, instrumenter, cost.ignored_seconds);
  const Extra leaves = programs.extra(instrumenter, "leaves");
  if (leaves.events > 0) cost.inside_seconds = 2 * leaves.inside / leaves.events;
  cost.function_seconds = first_call_seconds(instrumenter, turns, cost.event_seconds);
  const os::ClockSync end = os::sync_clocks();
  const double nanoseconds = static_cast<double>(end.monotonic_ns - begin.monotonic_ns);
  cost.tick_seconds = nanoseconds * 1e-9 / static_cast<double>(end.ticks - begin.ticks);
  return cost;
}

struct Calibration {
  int turns = 0;
  EventCost cost;
};

// Its result; nothing (zeros) where it fails.
template <typename Measure>
auto measured(const Measure& measure) noexcept -> decltype(measure()) try {
  const ErrorGuard guard;
  return measure();
} catch (const Failed&) {
  return {};
} catch (const PythonError&) {
  return put_off_exception(), decltype(measure()){};
} catch (const std::bad_alloc&) {
  return {};
}

}  // namespace

EventCost calibrate_events(const Instrumenter& instrumenter, std::uint64_t events) noexcept {
  // Once in a process, or twice: a notebook may have hundreds of measurements.
  static std::map<const Instrumenter*, Calibration> known;  // guarded by the control lock
  const int turns = events < kFewEvents ? 1 : kTurns;
  return measured([&] {
    Calibration& found = known[&instrumenter];
    if (found.turns < turns) found = {.turns = turns, .cost = measure_events(instrumenter, turns)};
    return found.cost;
  });
}

EventCost slowed(EventCost cost, const CallbackTimes& in_program, const Instrumenter& instrumenter,
                 double sample_seconds) noexcept {
  cost.event_seconds += sample_seconds;
  cost.inside_seconds += sample_seconds;  // the enter's; the leave's comes after the visit
  cost.quick_seconds = cost.event_seconds;
  if (cost.callback_ticks == 0) return cost;
  cost.callback_ticks += sample_seconds / cost.tick_seconds;
  cost.seconds_per_tick = (1 + instrumenter.interpreter_part) * cost.tick_seconds;
  if (!in_program.enough()) return cost;
  cost.timed_callbacks = in_program.calls();
  const double ticks = std::max(in_program.mean() - cost.callback_ticks, 0.0);
  const double event_seconds = ticks * cost.seconds_per_tick;
  cost.event_seconds += event_seconds;
  cost.inside_seconds += event_seconds;  // half of what the two events of a call take more
  return cost;
}

}  // namespace timeloom::python
