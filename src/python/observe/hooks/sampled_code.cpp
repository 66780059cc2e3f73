#include "python/observe/hooks/sampled_code.hpp"

#include <algorithm>

#include "os/readable_memory.hpp"
#include "python/interpreter/compat_frame.hpp"
#include "python/observe/hooks/event_code.hpp"
#include "python/observe/hooks/monitoring_tool.hpp"
#include "python/observe/hooks/open_calls.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// A function that nothing has called begins a thread, for all that is known: these are always
// reported, so that threads take part.
bool begins_thread(PyCodeObject* code) noexcept {
  InterpreterFrame* const frame = frame_of_event(code);
  return frame != nullptr && outer_frame_of(frame) == nullptr;
}

// PY_START
PyObject* on_first_start(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  if (!is_of_code(arguments)) return leave_out_event();
  PyCodeObject* const code = code_argument(arguments);
  define_code(code, globals_of_event(code));
  if (record::recording() && !record::t_recorder->attached()) (void)record::attach_this_thread();
  return Py_NewRef(begins_thread(code) ? Py_None : g_disable);
}

constexpr MonitoringEvent kFirstStart[] = {{"PY_START", on_first_start}};

// For a frame whose memory is known to be there, and `readable`: also its code object.
bool is_sound(InterpreterFrame* frame, bool readable) noexcept {
  if (is_entry_frame(frame)) return true;
  return (readable || os::is_readable(code_of(frame), sizeof(PyCodeObject))) && has_code(frame);
}

// The recorded region of a sound frame of Python code; none: UINT32_MAX.
std::uint32_t region_of_frame(InterpreterFrame* frame) noexcept {
  if (is_of_interpreter(frame)) return UINT32_MAX;
  const std::uint64_t kept = kept_word(code_of(frame));
  const bool ready = kept >= ready_from() && is_region(word_in(kept));
  return ready ? static_cast<std::uint32_t>(payload_of(word_in(kept))) : UINT32_MAX;
}

PyThreadState* own_thread_state() noexcept {
  PyThreadState* const thread = PyGILState_GetThisThreadState();
  const bool known =
      thread != nullptr && PyThreadState_GetInterpreter(thread) == PyInterpreterState_Main();
  return known ? thread : nullptr;
}

}  // namespace

std::size_t walk_functions(std::span<std::uint32_t> regions) noexcept {
  PyThreadState* const thread = own_thread_state();
  if (thread == nullptr) return 0;
  int unsettled = 2;  // the innermost frames may be in the making, or about to go
  InterpreterFrame* frame = innermost_frame(thread);
  std::size_t found = 0;
  for (; frame != nullptr && found < regions.size(); frame = frame->previous, --unsettled) {
    const bool settled = unsettled <= 0;
    if (!settled && !os::is_readable(frame, sizeof *frame)) break;
    if (!is_sound(frame, settled)) break;
    // It lies on the C stack, which a greenlet may be about to exchange.
    if (is_entry_frame(frame)) unsettled = std::max(unsettled, 2);
    const std::uint32_t region = region_of_frame(frame);
    if (region != UINT32_MAX) regions[found++] = region;
  }
  return found;
}

void define_sampled_code() noexcept {
  define_open_code();
  const ErrorGuard guard;
  PyObject* const api = PySys_GetObject("monitoring");  // borrowed
  const Ref restarted(api == nullptr ? nullptr
                                     : PyObject_CallMethod(api, "restart_events", nullptr));
  PyErr_Clear();
}

const Instrumenter kSampling{
    "sampling",
    {},
    false,
    [](const InstrumentOptions&) { return define_open_code(), subscribe(kFirstStart); },
    [] { unsubscribe(); }};

}  // namespace timeloom::python
