// Wakes: which event made a suspended task ready to resume. Two parameters hold the same number:
// the first one where the wake was caused, the second one where the task resumes. They do not
// describe a call, so they split no call paths. docs/formats/spool.md describes them.
//
// Pure functions, for any thread.
#pragma once

#include <cstdint>

#include "core/definitions.hpp"
#include "core/event.hpp"

namespace timeloom {

inline constexpr char kWakesParameter[] = "timeloom::wakes";
inline constexpr char kWokenParameter[] = "timeloom::woken";

enum class WakeEnd : std::uint8_t { kNone, kWakes, kWoken };

inline WakeEnd wake_end_of(const Parameter& parameter) noexcept {
  if (parameter.type != ParameterType::kUint64) return WakeEnd::kNone;
  if (parameter.name == kWakesParameter) return WakeEnd::kWakes;
  return parameter.name == kWokenParameter ? WakeEnd::kWoken : WakeEnd::kNone;
}

// Which end of a wake the event is; `value` is the number of the wake, which is unique in the run.
inline WakeEnd wake_end_of(const Event& event, const Definitions& definitions) noexcept {
  if (event.kind != EventKind::kParameterUint) return WakeEnd::kNone;
  if (event.ref >= definitions.parameters.size()) return WakeEnd::kNone;
  return wake_end_of(definitions.parameters[event.ref]);
}

}  // namespace timeloom
