// What happens when a run has reached its size limit (--at-max-size).
#pragma once

#include <cstdint>

namespace timeloom {

enum class AtLimit : std::uint8_t {
  kStop,        // recording ends
  kKeepNewest,  // the oldest events go
  kFold,        // events are not kept any more, but folded into profiles
};

}  // namespace timeloom
