// The result of a rank that has converted its own events, for the weave of the run: OTF2 event
// files and the call paths of each location, with the rank's own ids and clock. A directory in the
// spool of its process:
//
//     converted/events/N.evt   the events of a location, N: its id there
//     converted/result         everything else; written last, so it is missing if incomplete
//
// The spool stays unchanged: where a conversion is missing or damaged, the weave of the run does
// it. A rank of a packed run appends its events to the file of its host instead (packed_ranks.hpp),
// with this result before them, and removes the log. Only the version that wrote the file reads it,
// on a machine of the same kind. Functions throw Error and std::bad_alloc; any thread may call
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "formats/otf2/read/event_files.hpp"
#include "formats/packed/part.hpp"
#include "os/file.hpp"
#include "profile/location_aggregator.hpp"
#include "spool/spool_directory.hpp"
#include "weave/message_balance.hpp"

namespace timeloom::weave {

inline constexpr char kConvertedName[] = "converted";

struct RankResult {
  struct Counts {  // of events, as in ThreadReplay
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;  // of records
    std::uint64_t closed_regions = 0;
    std::uint64_t dropped_events = 0;
    std::uint64_t kept_rewinds = 0;
    std::uint64_t tasks_on_lanes = 0;
    std::uint64_t cpu_ns = 0;  // that the conversion took
  };
  // Indexed by id in the result: the id in the process. UINT32_MAX: a definition that the
  // conversion added.
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
    otf2::EventCount count;   // with times of the result's clock
    std::uint64_t bytes = 0;  // of its event file
    std::uint64_t check = 0;  // check_of() the event file
    // Of packed events, whose times are ticks of the process.
    packed::PackedLocationFacts packed;
    profile::AggregatedLocation aggregated;
  };

  std::uint64_t definitions = 0;  // bytes of `defs` when the result was made
  bool with_trace = false;
  bool with_profile = false;
  bool is_packed = false;  // its events are blocks, not event files
  Counts counts;
  Moment begin, end;  // of the process
  MessageBalance::Ends messages;
  std::vector<std::uint64_t> metric_totals;  // by metric
  std::vector<std::string> metric_names;     // names of the metrics that the weave itself defines
  Ids ids;
  std::vector<OfLocation> locations;
  otf2::EventReferences references;  // of the event files
};

// Writes to and reads from the directory `converted` of a spool.
void write_rank_result(const RankResult& rank_result, const std::filesystem::path& directory);

// Empty: there is no sound result, or it belongs to other definitions.
std::optional<RankResult> read_rank_result(const spool::SpoolDirectory& spool);

// The result as bytes, and the opposite, with the same conditions.
std::vector<std::uint8_t> bytes_of(const RankResult& rank_result);
std::optional<RankResult> rank_result_in(std::span<const std::uint8_t> bytes,
                                         const spool::SpoolDirectory& spool);

// The path of an event file inside a spool.
std::string event_file(LocationId there);

// A checksum of the whole file. Empty: it cannot be read.
std::optional<std::uint64_t> check_of(const os::File& file);

// Bytes of the definitions of a spool.
std::uint64_t size_of_definitions(const spool::SpoolDirectory& spool);

}  // namespace timeloom::weave
