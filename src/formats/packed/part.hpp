// Parts of a packed trace: the events of one process that it packed by itself, before the numbers
// of the run were known. So their blocks have ids and locations of the process, and ticks of its
// counter as times. The trace takes the blocks as they are, and a section before them has their
// meaning.
//
// Plain values and functions, for any thread. They throw std::bad_alloc, and Error where noted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/event.hpp"
#include "core/tick_line.hpp"
#include "formats/packed/definition_counts.hpp"
#include "formats/packed/packed_definitions.hpp"
#include "os/file.hpp"

namespace timeloom::packed {

// The ids of the run, by id of the part; kNoId: no event refers to it.
inline constexpr std::uint32_t kNoId = UINT32_MAX;

struct PartMeaning {
  struct OfLocation {
    LocationId there{}, here{};
  };
  TickLine clock;
  std::uint32_t group = 0;  // the process, in the run
  std::vector<OfLocation> locations;
  std::vector<std::uint32_t> regions, strings, parameters, metrics, communicators, io_handles;

  // The numbers of ids that the events of the part may have.
  DefinitionCounts counts() const noexcept;
  // Whether all ids are defined in the run.
  bool fits(const DefinitionCounts& run) const noexcept;
  // Translates events in place; false: one refers to an id without a meaning. REQUIRES: they fit
  // counts().
  bool translate(std::span<Event> events) const noexcept;
  bool translate_regions(std::span<std::uint32_t> ids) const noexcept;
};
Bytes bytes_of(const PartMeaning& meaning);
// The opposite. False: the bytes are damaged.
bool read_meaning(ByteSpan bytes, PartMeaning& meaning);

// The events of a location as they were packed.
struct PackedLocationFacts {
  RunEnd::OfLocation counts;
  std::uint64_t first = UINT64_MAX;  // time of the first event
  std::uint64_t last = 0;
};

// A part that a packed trace takes.
struct TakenPart {
  struct OfLocation {
    LocationId here{};
    PackedLocationFacts facts;  // with times of the run
  };
  std::uint64_t number = 0;  // of the part, in its blocks
  std::uint64_t at = 0;      // of its blocks in the file
  std::uint64_t size = 0;    // of its blocks
  std::vector<OfLocation> locations;
  // Called once each and not kept, since there may be many parts. Throw Error.
  std::function<PartMeaning()> meaning;
  std::function<os::File()> open;
};

// A packed trace that is written.
class TraceSink : public RunSink {
 public:
  // REQUIRES: before begin().
  virtual void take(TakenPart&& part) = 0;
};

// The blocks of a part, in a file of their own without anything else.
class BlocksSink : public RunSink {
 public:
  virtual std::uint64_t number() const = 0;
  // REQUIRES: the location has been finished.
  virtual PackedLocationFacts facts(LocationId location) const = 0;
};
// Creates the file, which must not exist. A sink as create() of packed.hpp returns, with this
// exception. Throws Error.
std::unique_ptr<BlocksSink> create_blocks(const std::filesystem::path& file);

}  // namespace timeloom::packed
