// What a rank leaves of its own events when it has converted them, for the weave of the run: event
// files of OTF2 and the call paths of each location, with ids and a clock of its own. A directory
// in the spool of its process:
//
//     converted/events/N.evt   the events of a location, N: its id there
//     converted/result         the rest; last, so that what is not complete is not there
//
// The spool stays what it is: a conversion that is not there, or not sound, is done by the weave of
// the run. The file is read by the version that wrote it, on a machine of the same kind, only.
// Functions throw Error and what memory can; any thread may call them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "formats/otf2/read/event_files.hpp"
#include "os/file.hpp"
#include "profile/location_fold.hpp"
#include "spool/spool_directory.hpp"
#include "weave/message_balance.hpp"

namespace timeloom::weave {

inline constexpr char kConvertedName[] = "converted";

struct RankResult {
  struct Counts {  // of events, as in ThreadFeed
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;  // of records
    std::uint64_t closed_regions = 0;
    std::uint64_t dropped_events = 0;
    std::uint64_t kept_rewinds = 0;
    std::uint64_t tasks_on_lanes = 0;
    std::uint64_t cpu_ns = 0;  // that the conversion took
  };
  // By id there: the id in the process. UINT32_MAX: it is a definition of the weave itself.
  struct Ids {
    std::vector<std::uint32_t> regions, strings, parameters, metrics, communicators, io_handles;
  };
  struct Moment {
    std::uint64_t ticks = 0;  // of the process
    std::uint64_t time = 0;   // there
  };
  struct OfLocation {
    std::uint32_t index = 0;  // in the process
    LocationId there{};
    otf2::EventCount count;   // times of there
    std::uint64_t bytes = 0;  // of its event file
    std::uint64_t check = 0;  // check_of() that
    profile::FoldedLocation folded;
  };

  std::uint64_t definitions = 0;  // bytes of `defs` when it was read
  bool with_trace = false;
  bool with_profile = false;
  Counts counts;
  Moment begin, end;  // of the process
  MessageBalance::Ends messages;
  std::vector<std::uint64_t> metric_totals;  // by metric
  std::vector<std::string> metric_names;     // the same, by which those of the weave are known
  Ids ids;
  std::vector<OfLocation> locations;
  otf2::EventReferences references;  // of the event files
};

// In the directory, which is `converted` of a spool.
void write_rank_result(const RankResult& rank_result, const std::filesystem::path& directory);

// None: there is none that is sound, or it is of other definitions.
std::optional<RankResult> read_rank_result(const spool::SpoolDirectory& spool);

// The way to an event file in a spool.
std::string event_file(LocationId there);

// A checksum of the whole file. None: it cannot be read.
std::optional<std::uint64_t> check_of(const os::File& file);

// Bytes of the definitions of a spool.
std::uint64_t size_of_definitions(const spool::SpoolDirectory& spool);

}  // namespace timeloom::weave
