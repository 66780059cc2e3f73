// Where the index of an archive lies, and making it there.
//
// An index lies beside its archive; where that place cannot be written, in the cache directory of
// the user. It is written under another name and gets its own when it is complete. Functions for
// one thread; the archive may be read by several. Throws Error, and Cancelled when it was asked to
// stop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/event.hpp"
#include "view/index/index.hpp"
#include "view/index/index_writer.hpp"

namespace timeloom::view {

// A number that changes when the archive of this anchor changes: sizes and times of its files.
std::uint64_t source_identity(const std::filesystem::path& anchor);

// Beside the archive: "view.timeloom" for "traces.otf2", "NAME.view.timeloom" for other names.
std::filesystem::path place_beside(const std::filesystem::path& anchor);

// In the cache directory of the user; empty: there is no such directory.
std::filesystem::path place_in_cache(const std::filesystem::path& anchor);

// The index of the archive, from either place, if it was made of the state that `identity` stands
// for. Null: there is none, or it is `damaged`, which is left as it was otherwise.
std::shared_ptr<const Index> find_index(const std::filesystem::path& anchor, std::uint64_t identity,
                                        std::size_t tracks, bool& damaged);

// Makes the index, with the numbers of call paths of an earlier one if there is one. One that
// another process makes at the same time does no harm: then this one is kept for this process
// alone.
std::shared_ptr<const Index> make_index(RunSource& run, const std::filesystem::path& anchor,
                                        std::uint64_t identity, Progress& progress,
                                        unsigned threads, const Index* earlier = nullptr);

}  // namespace timeloom::view
