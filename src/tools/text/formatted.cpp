#include "tools/text/formatted.hpp"

#include <fmt/format.h>

namespace timeloom::tools {

std::string format_values(fmt::string_view pattern, fmt::format_args values) {
  return fmt::vformat(pattern, values);
}

}  // namespace timeloom::tools
