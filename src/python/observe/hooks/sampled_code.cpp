#include "python/observe/hooks/sampled_code.hpp"

#include <algorithm>

#include "core/samples/estimated_time.hpp"
#include "python/interpreter/compat_line.hpp"
#include "python/observe/cost/budget.hpp"
#include "python/observe/hooks/event_code.hpp"
#include "python/observe/hooks/frame_walk.hpp"
#include "python/observe/hooks/monitoring_tool.hpp"
#include "python/observe/hooks/open_calls.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/regions_around.hpp"
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

// PY_RESUME: a generator or a coroutine that has begun before goes on.
PyObject* on_first_resume(PyObject*, PyObject* const* arguments, std::size_t, PyObject*) noexcept {
  if (!is_of_code(arguments)) return leave_out_event();
  PyCodeObject* const code = code_argument(arguments);
  define_code(code, globals_of_event(code));
  return Py_NewRef(g_disable);
}

constexpr MonitoringEvent kFirstEvents[] = {{"PY_START", on_first_start},
                                            {"PY_RESUME", call_of_resume<on_first_resume>}};

// The recorded region of the code object, marked where calls of it are not recorded any more; none:
// UINT32_MAX.
std::uint32_t recorded_or_throttled(PyCodeObject* code) noexcept {
  if (word_in(kept_word(code)) != kThrottledCode) return recorded_region(code);
  const std::uint32_t region = throttled_region(code);
  return region == UINT32_MAX ? region : region | kUnrecordedFrame;
}

// Puts what `region_of` finds for the code objects of the calling thread's frames, the innermost
// first, but for UINT32_MAX.
std::size_t walk_frames(std::span<std::uint32_t> regions,
                        std::uint32_t (*region_of)(PyCodeObject*) noexcept) noexcept {
  std::size_t found = 0;
  each_frame([&](InterpreterFrame* frame) noexcept {
    const std::uint32_t region = region_of(code_of(frame));
    if (region != UINT32_MAX) regions[found++] = region;
    return found < regions.size();
  });
  return found;
}

}  // namespace

std::size_t walk_functions(std::span<std::uint32_t> regions, std::uint32_t) noexcept {
  return walk_frames(regions, recorded_region);
}

std::size_t walk_throttled(std::span<std::uint32_t> regions, std::uint32_t innermost) noexcept {
  if (!any_throttled() || innermost == UINT32_MAX) return 0;
  // The last place is for `innermost`, where it is not a function of Python.
  const std::size_t found = walk_frames(regions.first(regions.size() - 1), recorded_or_throttled);
  const auto frames = regions.first(found);
  const auto unrecorded = [](std::uint32_t frame) { return (frame & kUnrecordedFrame) != 0; };
  if (std::ranges::none_of(frames, unrecorded)) return 0;
  const auto own = std::ranges::find(frames, innermost);
  if (own != frames.end()) {
    // Calls that run since before the function around them was throttled are not recorded, too.
    std::for_each(frames.begin(), own, [](std::uint32_t& f) { f |= kUnrecordedFrame; });
    return found;
  }
  // A block of the user API may be around throttled functions; others, such as a collection of
  // garbage or a wrapped call, are inside them.
  const auto place =
      is_region_around(innermost) ? std::ranges::find_if_not(frames, unrecorded) : frames.begin();
  std::copy_backward(place, frames.end(), regions.begin() + static_cast<std::ptrdiff_t>(found + 1));
  *place = innermost;
  return found + 1;
}

std::uint32_t line_of_region(std::uint32_t region) noexcept {
  constexpr int kMostFrames = 1000;
  if (is_region_around(region)) return 0;  // it may be open in a function of another file
  std::uint32_t line = 0;
  int left = kMostFrames;
  each_frame([&](InterpreterFrame* frame) noexcept {
    const std::uint32_t own = recorded_or_throttled(code_of(frame));
    const bool found = own != UINT32_MAX && (own & ~kUnrecordedFrame) == region;
    if (found) line = line_of_frame(frame);
    return !found && --left > 0;
  });
  return line;
}

void define_sampled_code() noexcept {
  define_open_code();
  const ErrorGuard guard;
  PyObject* const api = PySys_GetObject("monitoring");  // borrowed
  const Ref restarted(api == nullptr ? nullptr
                                     : PyObject_CallMethod(api, "restart_events", nullptr));
  PyErr_Clear();
}

const Instrumenter kSampling{"sampling",
                             {},
                             false,
                             [](const InstrumentOptions& what) {
                               define_open_code(what.innermost);
                               if (!subscribe(kFirstEvents)) return false;
                               bring_in_running_threads();
                               return true;
                             },
                             [] { unsubscribe(); }};

}  // namespace timeloom::python
