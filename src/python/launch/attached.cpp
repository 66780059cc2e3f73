#include "python/launch/attached.hpp"

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <new>
#include <string_view>
#include <system_error>
#include <tuple>

#include "core/error.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_fork_handlers.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/launch/end/at_exit.hpp"
#include "record/listener.hpp"
#include "record/measurement.hpp"
#include "sample/sampler.hpp"
#include "settings/inheritance.hpp"
#include "settings/sample_setting.hpp"

namespace timeloom::python {
namespace {

PyObject* g_at_exit = nullptr;  // registered while this process is recorded

constexpr std::string_view kDone = "done";

// What an answer is made of, in its order.
template <typename Result>
auto counts_of(Result& result) {
  return std::tie(result.events, result.aggregated_events, result.profile, result.threads,
                  result.tasks, result.bytes, result.lost_events, result.dropped_events,
                  result.at_limit, result.windows, result.throttled, result.error,
                  result.wall_seconds, result.overhead.cpu, result.overhead.wall,
                  result.overhead.cpu_error_range.least, result.overhead.cpu_error_range.most);
}

// Doubles travel as their bits: the program's locale may have another decimal point.
std::uint64_t bits_of(std::integral auto value) { return static_cast<std::uint64_t>(value); }
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

template <std::integral Number>
void take_bits(std::uint64_t bits, Number& value) {
  value = static_cast<Number>(bits);
}
void take_bits(std::uint64_t bits, double& value) { value = std::bit_cast<double>(bits); }

// The other side may be gone: then nobody wants to know.
void send(int descriptor, const std::string& line) noexcept {
  const std::string text = line + "\n";
  (void)::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL);
}

// Ends the session, unless somebody else has; the answer.
std::string finish_attached() {
  const ControlLock control;
  SessionResult result;
  const bool finished = finish_session(result);
  if (!finished) PyErr_Clear();
  if (g_at_exit != nullptr && !unregister_at_exit(g_at_exit)) PyErr_Clear();
  return finished ? answer_text(result) : "over";
}

void finish_and_answer(int descriptor) noexcept {
  try {
    send(descriptor, finish_attached());
  } catch (const std::bad_alloc&) {
    send(descriptor, "over");
  }
}

// On the thread of the listener, which Python does not know.
void finish_from_outside(int descriptor) noexcept {
  const PyGILState_STATE state = PyGILState_Ensure();
  {
    const record::KeepOff nothing_of_this;
    finish_and_answer(descriptor);
  }
  PyGILState_Release(state);
}

void wait_for_listener() noexcept {
  constexpr timespec kPause{0, 1'000'000};
  Py_BEGIN_ALLOW_THREADS;
  while (record::is_listening()) ::nanosleep(&kPause, nullptr);
  Py_END_ALLOW_THREADS;
}

PyObject* finish_at_exit(PyObject*, PyObject*) {
  if (!record::stop_listening(finish_and_answer)) wait_for_listener();
  Py_RETURN_NONE;
}

PyMethodDef g_at_exit_method = {"finish_run", guarded<finish_at_exit>, METH_NOARGS, nullptr};

bool register_end() {
  if (g_at_exit == nullptr) g_at_exit = PyCFunction_New(&g_at_exit_method, nullptr);
  return g_at_exit != nullptr && register_at_exit(g_at_exit);
}

void refuse_measured() {
  SessionResult running;
  if (session_so_far(running))
    throw Error("it is recorded already, into " + running.run + " [TL070]");
  if (record::active() || record::is_listening()) throw Error("it is recorded already [TL070]");
}

// A run without calls and samples would be empty.
void refuse_unsampled(const Settings& settings) {
  if (!settings.flag(kSettings.sampling)) return;
  const std::string reason = sample::reason_against(sample_signal_of(settings));
  if (!reason.empty()) throw Error("no samples can be taken: " + reason + " [TL086]");
}

// False with a Python exception set.
bool start(const std::string& run, PyObject* innermost) {
  int error = 0;
  const os::Directory directory = KnownDirectory(run).open(&error);
  if (error == 0 && directory.is_of_another_user()) error = ESTALE;
  if (error != 0) throw Error("cannot open " + run + ": " + reason_of(error) + " [TL211]");
  const KnownDirectory spools = KnownDirectory(run, directory.id()).below("spool", &error);
  if (error != 0) throw Error("cannot open " + run + "/spool: " + reason_of(error) + " [TL211]");
  const Inheritance inheritance = load_inheritance(spools);
  refuse_unsampled(inheritance.settings);
  SessionContext context{.run = run, .id = directory.id(), .program = inheritance.program};
  context.enters_open_calls = true;
  if (PyFrame_Check(innermost)) context.innermost = reinterpret_cast<PyFrameObject*>(innermost);
  return start_session(inheritance.settings, context);
}

PyObject* begin_attached(PyObject*, PyObject* arguments) {
  PyObject *run = nullptr, *innermost = nullptr;
  int descriptor = -1;
  double seconds = 0;
  if (!PyArg_ParseTuple(arguments, "UidO", &run, &descriptor, &seconds, &innermost)) return nullptr;
  refuse_measured();
  if (!start(bytes_of(run), innermost)) return nullptr;
  if (!register_end()) {
    PyErr_Clear();
    (void)finish_attached();
    throw Error("no function can be registered at its exit [TL071]");
  }
  const std::uint64_t until =
      seconds > 0 ? record::monotonic_ns() + static_cast<std::uint64_t>(seconds * 1e9) : 0;
  send(descriptor, "recording");
  if (record::begin_listening(descriptor, until, finish_from_outside)) Py_RETURN_NONE;
  (void)finish_attached();
  throw Error("no thread can be started in it [TL071]");
}

}  // namespace

std::string answer_text(const SessionResult& result) {
  std::string text(kDone);
  const auto add = [&](const auto& value) { text += ' ' + std::to_string(bits_of(value)); };
  std::apply([&](const auto&... value) { (add(value), ...); }, counts_of(result));
  return text;
}

bool read_answer(const std::string& text, SessionResult& result) {
  if (!text.starts_with(kDone)) return false;
  const char* at = text.data() + kDone.size();
  const char* const end = text.data() + text.size();
  bool fine = true;
  const auto take = [&](auto& value) {
    std::uint64_t bits = 0;
    fine = fine && at != end && *at == ' ';
    if (!fine) return;
    const auto [next, error] = std::from_chars(at + 1, end, bits);
    fine = error == std::errc();
    at = next;
    take_bits(bits, value);
  };
  std::apply([&](auto&... value) { (take(value), ...); }, counts_of(result));
  return fine && (at == end || *at == '\n');
}

void pause_attached() noexcept { record::pause_listening(); }

void resume_attached() noexcept {
  if (record::is_listening()) call_after_fork<record::resume_listening>();
}

PyMethodDef kAttachedMethods[] = {
    {"begin_attached", guarded<begin_attached>, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace timeloom::python
