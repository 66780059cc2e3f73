// The lost and cut-off parts of a run, and which of its numbers they could change.
//
// Plain values, taken from the definitions of the run. They throw only std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "run/run_layout.hpp"

namespace timeloom::tools {

// A property that opening a run leaves: files of the trace that are missing, cut off or damaged,
// beside a profile that is sound.
inline constexpr char kUnsoundTraceFiles[] = "timeloom::unsound_trace_files";

// From the mildest on.
enum class LossEffect : std::uint8_t {
  kNone,   // nothing that was recorded is missing
  kMore,   // visits and times may be more, and none is less
  kTimes,  // visits may be more, times may be anything
  kAny     // visits may be less, too
};

struct Loss {
  std::string text;  // a sentence for people
  LossEffect effect = LossEffect::kNone;
};

std::vector<Loss> losses_of(const Definitions& definitions);

// The worst of them.
LossEffect effect_of(const std::vector<Loss>& losses);

// The warning that the profile of a run lost levels of calls: their number, and the setting
// that keeps them, which depends on the layout of the run.
std::string depth_warning(std::uint64_t limit, std::uint64_t reached, const run::Layout& layout);

// A number that weaving or reading left among the properties; 0 without one.
std::uint64_t counted(const Definitions& definitions, const char* key);

}  // namespace timeloom::tools
