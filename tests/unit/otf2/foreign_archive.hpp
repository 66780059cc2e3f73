// Writes an archive unlike Timeloom's, with the library itself.
#pragma once

#include <filesystem>

namespace timeloom::otf2 {

// Two MPI ranks with local ids, drifting clocks, unbalanced events, gaps in the numbers of
// definitions, and event kinds that core does not know.
void write_foreign_archive(const std::filesystem::path& directory);

// The same with balanced events that core knows.
void write_known_archive(const std::filesystem::path& directory);

}  // namespace timeloom::otf2
