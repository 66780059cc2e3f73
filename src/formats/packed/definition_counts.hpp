// The numbers of definitions that events may refer to. A plain value, for any thread.
#pragma once

#include <cstddef>

#include "core/definitions.hpp"

namespace timeloom::packed {

struct DefinitionCounts {
  std::size_t strings = 0, regions = 0, groups = 0, parameters = 0, metrics = 0, communicators = 0,
              io_handles = 0, contexts = 0;
};

inline DefinitionCounts counts_of(const Definitions& all) noexcept {
  return {all.strings.size(),    all.regions.size(), all.groups.size(),
          all.parameters.size(), all.metrics.size(), all.communicators.size(),
          all.io_handles.size(), all.contexts.size()};
}

}  // namespace timeloom::packed
