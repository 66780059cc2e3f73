// The id at the end of a message, as in "no run in work; name one [TL201]", under which
// docs/warnings.md explains it. A message that quotes another one ends with its own id only.
//
// A pure function, for any thread.
#pragma once

#include <string_view>

namespace timeloom {

// The message without the id at its end, if it has one.
std::string_view without_id(std::string_view message) noexcept;

}  // namespace timeloom
