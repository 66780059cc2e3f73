// Event files that an archive takes over from others, as each rank of a job makes one of its own
// events: their references become those of the archive by the mapping tables of the files of local
// definitions, and their times by the clock offsets there, as the OTF2 documentation has them.
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

// What the references in the event files of an archive mean.
struct EventReferences {
  struct MetricClass {
    std::uint32_t reference = 0;
    std::uint32_t first = 0;  // id of its first metric
    LocationId instance{};    // of a metric of the process: where it is sampled
  };
  std::uint32_t first_communicator = 0;
  std::uint32_t offset_attribute = 0;
  std::vector<MetricClass> metrics;
  // Of the strings only those that events can refer to.
  std::vector<std::uint32_t> string_references;
  std::vector<std::string> strings;   // each the text of the reference at its place
  std::vector<std::string> io_files;  // by reference
};

// The number of events of a location, and the times of the first and the last of them.
struct EventCount {
  std::uint64_t events = 0;
  std::uint64_t first = UINT64_MAX;
  std::uint64_t last = 0;
};

// Of one process. "There" is the archive that the files come from, "here" the one that takes them.
struct EventFiles {
  struct File {
    LocationId there{}, here{};
    EventCount count;  // times of here
  };
  struct Offset {
    std::uint64_t time = 0;  // of there
    std::int64_t added = 0;  // for the time of here
  };
  struct Meaning {
    EventReferences references;  // of there, with metrics and locations of here
    // Ids of here by ids of there.
    std::vector<std::uint32_t> regions, parameters, communicators, io_handles;
  };
  LocationGroupId process{};    // here
  std::vector<File> files;      // not empty
  std::vector<Offset> offsets;  // at the begin and the end; the line between them holds
  // Asked for twice and not kept: there may be many processes. References are small: tables are
  // made for them. Throws Error.
  std::function<Meaning()> meaning;
  // Puts the file where it is wanted, which nothing has as its name yet. Throws Error.
  std::function<void(const File& file, const std::filesystem::path& to)> put;
};

}  // namespace timeloom::otf2
