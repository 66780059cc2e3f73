// Wakeups: which event made a suspended task ready to resume, or ended the wait of a thread for a
// lock. Two parameters hold the same number: the first one where the wakeup was caused, the second
// one where the task or thread resumes. They do not describe a call, so they split no call paths.
// docs/formats/spool.md describes them.
//
// Pure functions, for any thread.
#pragma once

#include <cstdint>

#include "core/definitions.hpp"
#include "core/event.hpp"

namespace timeloom {

inline constexpr char kWakeupsParameter[] = "timeloom::wakes";
inline constexpr char kWokenParameter[] = "timeloom::woken";

enum class WakeupEnd : std::uint8_t { kNone, kWakes, kWoken };

inline WakeupEnd wakeup_end_of(const Parameter& parameter) noexcept {
  if (parameter.type != ParameterType::kUint64) return WakeupEnd::kNone;
  if (parameter.name == kWakeupsParameter) return WakeupEnd::kWakes;
  return parameter.name == kWokenParameter ? WakeupEnd::kWoken : WakeupEnd::kNone;
}

// The end of a wakeup that the event is; `value` is the number of the wakeup, which is unique in
// the run.
inline WakeupEnd wakeup_end_of(const Event& event, const Definitions& definitions) noexcept {
  if (event.kind != EventKind::kParameterUint) return WakeupEnd::kNone;
  if (event.ref >= definitions.parameters.size()) return WakeupEnd::kNone;
  return wakeup_end_of(definitions.parameters[event.ref]);
}

}  // namespace timeloom
