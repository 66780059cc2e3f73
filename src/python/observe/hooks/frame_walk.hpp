// The frames of the calling thread, for a handler of a signal that interrupts it anywhere: nothing
// is allocated, no lock is taken, and no frame is trusted before it was looked at. Without the GIL
// too, since a thread that has given it away stays in its frames.
#pragma once

#include <algorithm>
#include <cstdint>

#include "os/readable_memory.hpp"
#include "python/interpreter/compat_frame.hpp"
#include "python/observe/regions/code_regions.hpp"

namespace timeloom::python {

// For a frame whose memory is known to be there, and `readable`: also its code object.
inline bool is_sound(InterpreterFrame* frame, bool readable) noexcept {
  if (is_entry_frame(frame)) return true;
  return (readable || os::is_readable(code_of(frame), sizeof(PyCodeObject))) && has_code(frame);
}

// The recorded region of the code object; none: UINT32_MAX.
inline std::uint32_t recorded_region(PyCodeObject* code) noexcept {
  const std::uint64_t kept = kept_word(code);
  const bool ready = kept >= ready_from() && is_region(word_in(kept));
  return ready ? static_cast<std::uint32_t>(payload_of(word_in(kept))) : UINT32_MAX;
}

// nullptr: it is of no thread of the main interpreter.
inline PyThreadState* own_thread_state() noexcept {
  PyThreadState* const thread = PyGILState_GetThisThreadState();
  const bool known =
      thread != nullptr && PyThreadState_GetInterpreter(thread) == PyInterpreterState_Main();
  return known ? thread : nullptr;
}

// Frames that may be in the making or about to go, at most. No chain of other memory has so many
// frames whose code objects look like some.
inline constexpr int kMostUnsettled = 64;
inline constexpr int kFewUnsettled = 2;

// Whether the frame is the outermost one of the thread's innermost evaluation.
inline bool ends_evaluation(InterpreterFrame* frame, InterpreterFrame* const* outside) noexcept {
  return outside != nullptr && is_outermost_of_evaluation(frame) &&
         os::is_readable(outside, sizeof *outside) && frame->previous == *outside;
}

// Hands the frames of the calling thread that have code of a program to `take`, the innermost
// first, until it returns false.
template <typename Take>
void each_frame(const Take& take) noexcept {
  PyThreadState* const thread = own_thread_state();
  if (thread == nullptr) return;
  int unsettled = kSetsFrameLate ? kMostUnsettled : kFewUnsettled;
  InterpreterFrame* const* outside = frame_outside_evaluation(thread);
  InterpreterFrame* frame = innermost_frame(thread);
  for (; frame != nullptr; frame = frame->previous, --unsettled) {
    const bool settled = unsettled <= 0;
    if (!settled && !os::is_readable(frame, sizeof *frame)) break;
    if (!is_sound(frame, settled)) break;
    if (ends_evaluation(frame, outside)) {
      outside = nullptr;
      unsettled = std::min(unsettled, kFewUnsettled);
    }
    // It lies on the C stack, which a greenlet may be about to exchange.
    if (is_entry_frame(frame)) unsettled = std::max(unsettled, kFewUnsettled);
    if (!is_of_interpreter(frame) && !take(frame)) break;
  }
}

}  // namespace timeloom::python
