// The values of parameters that a visit was given.
//
// Plain functions over definitions that nobody changes meanwhile. Nothing throws.
#pragma once

#include <string>

#include "core/definitions.hpp"
#include "core/event.hpp"

namespace timeloom::exchange {

constexpr bool is_parameter(EventKind kind) noexcept {
  return kind == EventKind::kParameterInt || kind == EventKind::kParameterUint ||
         kind == EventKind::kParameterFloat || kind == EventKind::kParameterString;
}

// Whether it refers to what is defined. Formats leave others out.
bool is_sound(const Event& parameter, const Definitions& definitions) noexcept;

// As a value of JSON: a number exactly as it is, or a string. REQUIRES: is_sound().
void append_json_value(std::string& to, const Event& parameter, const Definitions& definitions);

// For people: "2", "1.5", "text". REQUIRES: is_sound().
std::string value_text(const Event& parameter, const Definitions& definitions);

}  // namespace timeloom::exchange
