// The viewer's page, which is built into the program (viewer/dist/index.html). A constant.
#pragma once

#include <string_view>

namespace timeloom::view {

std::string_view page() noexcept;

}  // namespace timeloom::view
