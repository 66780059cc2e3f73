// The formats that `timeloom convert` writes.
//
// Plain values, for any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "exchange/export_format.hpp"

namespace timeloom::tools {

// In the order of the help.
std::span<const exchange::Format* const> convert_formats();

}  // namespace timeloom::tools
