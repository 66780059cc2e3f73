#include "exchange/arguments.hpp"

#include "exchange/format_text.hpp"

namespace timeloom::exchange {

bool is_sound(const Event& parameter, const Definitions& definitions) noexcept {
  if (parameter.ref >= definitions.parameters.size()) return false;
  return parameter.kind != EventKind::kParameterString ||
         parameter.value < definitions.strings.size();
}

void append_json_value(std::string& to, const Event& parameter, const Definitions& definitions) {
  switch (parameter.kind) {
    case EventKind::kParameterInt: return append_number(to, parameter.as_int());
    case EventKind::kParameterUint: return append_number(to, parameter.value);
    case EventKind::kParameterFloat: return append_json_number(to, parameter.as_double());
    default: return append_json(to, definitions.strings[parameter.value]);
  }
}

std::string value_text(const Event& parameter, const Definitions& definitions) {
  std::string text;
  switch (parameter.kind) {
    case EventKind::kParameterInt: append_number(text, parameter.as_int()); break;
    case EventKind::kParameterUint: append_number(text, parameter.value); break;
    case EventKind::kParameterFloat: append_number(text, parameter.as_double()); break;
    default: text = definitions.strings[parameter.value];
  }
  return text;
}

}  // namespace timeloom::exchange
