// Packed runs: the events of a run at about a byte each, and its definitions, in one file.
//
// A sink or source is used as RunSink and RunSource require. Throws Error with one line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/event.hpp"
#include "formats/packed/part.hpp"

namespace timeloom::packed {

inline constexpr char kExtension[] = ".packed";

// Properties of a run that was read: blocks that are damaged or missing, the events in them, and
// whether the end of the file is lost, and with it the properties of the run.
inline constexpr char kLostBlocks[] = "timeloom::packed_lost_blocks";
inline constexpr char kLostEvents[] = "timeloom::packed_lost_events";
inline constexpr char kEndIsLost[] = "timeloom::packed_end_is_lost";

// Returns a sink that writes this file, which must not exist. Different threads may use
// LocationSinks at the same time; memory is about 1 MB for each open location. The file is complete
// only after finish(), which reads it back and compares it. `run`: the number of the run
// that files beside it refer to; 0: a new one.
std::unique_ptr<TraceSink> create(const std::filesystem::path& file, std::uint64_t run = 0);

// Opens a file and reads its definitions. Throws Error if these are damaged. Damaged blocks are
// left out; replay() counts them as properties.
std::unique_ptr<RunSource> open(const std::filesystem::path& file);

// The bytes that a packed file needs for definitions like these, besides its blocks.
std::uint64_t size_of_definitions(const Definitions& definitions);

// The number of the run (create()).
std::uint64_t run_number(const std::filesystem::path& file);

// The number of parts of a file that are damaged or missing, as far as that is known without
// reading the events.
std::size_t unsound_parts(const std::filesystem::path& file);

}  // namespace timeloom::packed
