// Whether an event is one that a source may pass to sinks: of a known kind, with references that
// are defined. A pure function, for any thread; nothing throws.
#pragma once

#include "core/event.hpp"
#include "formats/packed/definition_counts.hpp"

namespace timeloom::packed {

// False for enters and leaves, whose regions the packer and the unpacker check themselves.
bool is_sound(const Event& event, const DefinitionCounts& definitions) noexcept;

}  // namespace timeloom::packed
