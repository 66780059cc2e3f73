// Secrets that are known by their form, whatever stands before them: tokens of services, JSON web
// tokens, private keys.
//
// A pure function, for any thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

namespace timeloom {

// The first such secret in `text` from `at` on, as its position and its size; the size 0: there is
// none.
std::pair<std::size_t, std::size_t> find_token(std::string_view text, std::size_t at);

}  // namespace timeloom
