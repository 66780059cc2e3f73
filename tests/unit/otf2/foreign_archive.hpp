// Writes an archive as no writer of ours does, with the library itself.
#pragma once

#include <filesystem>

namespace timeloom::otf2 {

// Two MPI ranks with local ids, clocks that drift, events that do not balance,
// definitions with gaps in their numbers, kinds of events core does not know.
void write_foreign_archive(const std::filesystem::path& directory);

}  // namespace timeloom::otf2
