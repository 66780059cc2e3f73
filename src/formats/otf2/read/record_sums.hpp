// Sums of all records of an archive, kind by kind, whether or not Timeloom has a meaning for them.
//
// A plain value. sum_records() throws Error; any thread may call it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "formats/otf2/read/otf2_anchor.hpp"
#include "formats/otf2/read/record_kinds.hpp"

namespace timeloom::otf2 {

#define TIMELOOM_NAME_KIND(kind) k##kind,
// Events, definitions, markers, and whatever else an archive may have.
enum class RecordKind : std::size_t {
  TIMELOOM_OTF2_EVENTS(TIMELOOM_NAME_KIND) kAttributeList,
  TIMELOOM_OTF2_GLOBAL_DEFINITIONS(TIMELOOM_NAME_KIND) TIMELOOM_OTF2_DEFINITIONS(TIMELOOM_NAME_KIND)
      kDefMarker,
  kMarker,
  kUnknown,  // of a newer version of OTF2
  kSnapshot,
  kThumbnail,
  kFile,    // in the directory of the archive, of no location
  kAnchor,  // texts and properties of the archive
  kEnd
};
#undef TIMELOOM_NAME_KIND

const char* name_of(RecordKind kind);

struct RecordSum {
  std::uint64_t records = 0;
  std::uint64_t hash = 0;  // of their contents, times, locations and places
  bool operator==(const RecordSum&) const = default;
};

using RecordSums = std::array<RecordSum, static_cast<std::size_t>(RecordKind::kEnd)>;

// Reads the whole archive. Mapping tables and clock offsets are applied; they do not count as
// records. REQUIRES: the events have been read without finding damage.
RecordSums sum_records(const Anchor& anchor);

}  // namespace timeloom::otf2
