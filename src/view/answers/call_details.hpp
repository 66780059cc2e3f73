// The viewer's details of one call.
//
// A function over an index and the definitions of its run, for any thread. Throws Error where the
// file is damaged.
#pragma once

#include <cstdint>
#include <string>

#include "core/definitions.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

// The answer to `call`, as JSON: the call on that track and depth that contains `time`.
std::string call_details(const Index& index, const Definitions& definitions, std::uint32_t track,
                         std::uint32_t depth, std::uint64_t time);

}  // namespace timeloom::view
