// OTF2 archives: writing a run as one, reading any as a run.
//
// Uses the OTF2 library (>= 3.0); the conventions are those that Score-P's
// readers expect. No other folder sees the library's headers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "core/event.hpp"
#include "formats/otf2/read/event_files.hpp"

namespace timeloom::otf2 {

// An archive that is being written.
class Archive : public RunSink {
 public:
  // Takes event files over. Their locations are not opened. REQUIRES: before begin().
  virtual void take(EventFiles files) = 0;
  // Of a location whose events were written here. REQUIRES: finish() has returned.
  virtual EventCount written(LocationId location) const = 0;
  // REQUIRES: finish() has returned, and the definitions are still there.
  virtual EventReferences references() const = 0;
};

// A sink that writes the archive `directory`/`name`.otf2 (with `name`.def and
// `name`/). The directory exists, the archive does not. LocationSinks may be
// used from different threads at the same time. Memory is bounded per open
// location. An archive is complete only after finish(). Throws Error.
std::unique_ptr<Archive> create(const std::filesystem::path& directory,
                                const std::string& name = "traces");

// Opens the archive with this anchor file ("….otf2"). Reads the definitions at
// once; throws Error when the archive is damaged or not one at all. Events of
// kinds that core/event.hpp does not know are ignored.
std::unique_ptr<RunSource> open(const std::filesystem::path& anchor);

// The random number that the archive was given when it was created; 0: it has none.
// Reads nothing but the anchor file; throws Error when that is damaged.
std::uint64_t trace_id(const std::filesystem::path& anchor);

// The number of files of an archive that this program has written and that are missing now, cut off
// or without some of their chunks: their last bytes and the heads of chunks of events are looked
// at, no more. Throws Error when the anchor is damaged.
std::size_t unsound_files(const std::filesystem::path& anchor, std::span<const Location> locations);

}  // namespace timeloom::otf2
