// Event files that an archive adopts, as each rank of a job makes one of its own events. The
// mapping tables in the files of local definitions translate their references to references of the
// archive, and the clock offsets there translate their times, as the OTF2 documentation describes.
//
// Plain values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/ids.hpp"

namespace timeloom::otf2 {

// The meaning of the references in the event files of an archive.
struct EventReferences {
  struct MetricClass {
    std::uint32_t reference = 0;
    std::uint32_t first = 0;  // id of its first metric
    LocationId instance{};    // of a metric of the process: where it is sampled
  };
  std::uint32_t first_communicator = 0;
  std::uint32_t offset_attribute = 0;
  std::uint32_t memory_attribute = 0;
  std::vector<MetricClass> metrics;
  // Only the strings that events can refer to.
  std::vector<std::uint32_t> string_references;
  std::vector<std::string> strings;   // texts of these references, in the same order
  std::vector<std::string> io_files;  // by reference
};

// The number of events of a location, and the times of the first and the last of them.
struct EventCount {
  std::uint64_t events = 0;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
};

// The files of one process. "There" is the archive that the files come from, "here" the archive
// that adopts them.
struct EventFiles {
  struct File {
    LocationId there{}, here{};
    EventCount count;  // with times of here
  };
  struct Offset {
    std::uint64_t time = 0;  // of there
    std::int64_t added = 0;  // to get the time of here
  };
  struct Meaning {
    EventReferences references;  // from there, with metrics and locations of here
    // Ids of here by ids of there.
    std::vector<std::uint32_t> regions, parameters, communicators, io_handles;
  };
  LocationGroupId process{};    // here
  std::vector<File> files;      // not empty
  std::vector<Offset> offsets;  // at the start and the end; interpolated linearly between
  // Called twice and not kept, since there may be many processes. References are small, because
  // tables are made for them. Throws Error.
  std::function<Meaning()> meaning;
  // Moves the file to a new path. REQUIRES: nothing has that name yet. Throws Error.
  std::function<void(const File& file, const std::filesystem::path& to)> put;
};

}  // namespace timeloom::otf2
