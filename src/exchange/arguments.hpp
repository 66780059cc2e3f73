// The parameter values that a visit was given.
//
// Plain functions over definitions that do not change meanwhile. They throw only std::bad_alloc.
#pragma once

#include <string>

#include "core/definitions.hpp"
#include "core/event.hpp"

namespace timeloom::exchange {

constexpr bool is_parameter(EventKind kind) noexcept {
  return kind == EventKind::kParameterInt || kind == EventKind::kParameterUint ||
         kind == EventKind::kParameterFloat || kind == EventKind::kParameterString;
}

// True if the ids refer to existing definitions. Formats leave other parameters out.
bool is_sound(const Event& parameter, const Definitions& definitions) noexcept;

// The value in JSON: an exact number, or a string. REQUIRES: is_sound().
void append_json_value(std::string& to, const Event& parameter, const Definitions& definitions);

// For people: "2", "1.5", "text". REQUIRES: is_sound().
std::string value_text(const Event& parameter, const Definitions& definitions);

}  // namespace timeloom::exchange
