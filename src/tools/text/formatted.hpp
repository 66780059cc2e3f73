// Text by a pattern, with the library fmt: https://fmt.dev/latest/syntax.html
//
// Only formatted.cpp compiles the library; whoever includes this reads its smallest header, which
// checks the pattern. Plain functions, for any thread.
#pragma once

#include <fmt/core.h>

#include <string>

namespace timeloom::tools {

// Throws std::bad_alloc.
std::string format_values(fmt::string_view pattern, fmt::format_args values);

// The same of values: formatted("{:.1f} % of {}", share, name). Throws std::bad_alloc.
template <typename... Values>
std::string formatted(fmt::format_string<Values...> pattern, Values&&... values) {
  return format_values(pattern, fmt::make_format_args(values...));
}

}  // namespace timeloom::tools
