// OTF2 archives: writes a run as an archive, and reads any archive as a run.
//
// Uses the OTF2 library (>= 3.0), with the conventions that readers know from Score-P's archives.
// No other folder includes the library's headers. A sink or source is used as RunSink and RunSource
// require.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "formats/otf2/read/event_files.hpp"

namespace timeloom::otf2 {

// An archive that is being written.
class Archive : public RunSink {
 public:
  // Adopts finished event files. Their locations are not opened. REQUIRES: called before begin().
  virtual void take(EventFiles files) = 0;
  // Counts of a location whose events were written here. REQUIRES: finish() has returned.
  virtual EventCount written(LocationId location) const = 0;
  // REQUIRES: finish() has returned, and the definitions still exist.
  virtual EventReferences references() const = 0;
};

// The form of the calls in an archive.
enum class Calls : std::uint8_t {
  kRegions,          // enters and leaves of regions
  kCallingContexts,  // enters and leaves of call paths, and samples, which need them
};

// Returns a sink that writes the archive `directory`/`name`.otf2 (with `name`.def and `name`/).
// REQUIRES: the directory exists, the archive does not. Different threads may use LocationSinks at
// the same time. Memory is bounded for each open location. An archive is complete only after
// finish(). Throws Error.
std::unique_ptr<Archive> create(const std::filesystem::path& directory,
                                const std::string& name = "traces", Calls calls = Calls::kRegions);

// Opens the archive with this anchor file ("….otf2") and reads its definitions. Throws Error when
// the archive is damaged or is not an archive. Events of kinds that are missing in core/event.hpp
// are ignored.
std::unique_ptr<RunSource> open(const std::filesystem::path& anchor);

// The same for packing an archive of another tool: the definitions have its `original`.
std::unique_ptr<RunSource> open_to_pack(const std::filesystem::path& anchor);

// The kinds of records in which two archives differ, by their names in OTF2. If one of them lacks
// records, only the kinds of these. Reads both archives as a whole. Throws Error.
std::vector<std::string> different_records(const std::filesystem::path& one,
                                           const std::filesystem::path& other);

// The random number that the archive was given when it was created; 0: it has none. Reads the
// anchor file only; throws Error when it is damaged.
std::uint64_t trace_id(const std::filesystem::path& anchor);

// The number of files that Timeloom wrote for an archive and that are now missing, cut off, or
// without some of their chunks. Reads only the last bytes of files and the heads of event chunks.
// Throws Error when the anchor is damaged.
std::size_t unsound_files(const std::filesystem::path& anchor, std::span<const Location> locations);

}  // namespace timeloom::otf2
