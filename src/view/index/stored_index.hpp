// Where the index of an archive is stored, and its creation there.
//
// An index lies beside its archive or, where that directory is not writable, in the user's cache
// directory. It is written under another name and renamed when it is complete. Functions for one
// thread; they may read the archive with several. They throw Error, and Cancelled when asked to
// stop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/event.hpp"
#include "view/index/index.hpp"
#include "view/index/index_writer.hpp"

namespace timeloom::view {

// A number that changes when the archive of this anchor changes: from the sizes and times of its
// files.
std::uint64_t source_identity(const std::filesystem::path& anchor);
// The same from the anchor alone, for a look in between; 0: it is not there.
std::uint64_t anchor_state(const std::filesystem::path& anchor) noexcept;

// Beside the archive: "view.timeloom" for "traces.otf2", "NAME.view.timeloom" for other names.
std::filesystem::path index_path_beside(const std::filesystem::path& anchor);

// In the cache directory of the user; empty: there is no such directory.
std::filesystem::path index_path_in_cache(const std::filesystem::path& anchor);

// The index of the archive, from either path, if it was made from the state that `identity` stands
// for. Null: there is none, or it is `damaged`; the flag is otherwise unchanged.
std::shared_ptr<const Index> find_index(const std::filesystem::path& anchor, std::uint64_t identity,
                                        std::size_t tracks, bool& damaged);

// Builds the index; call paths keep the numbers of an earlier one, if there is one. If another
// process builds it at the same time, this one is used in this process only.
std::shared_ptr<const Index> make_index(RunSource& run, const std::filesystem::path& anchor,
                                        std::uint64_t identity, Progress& progress,
                                        unsigned threads, const Index* earlier = nullptr);

// The same without a name, for the state of a run that is still recorded: it is gone with the
// object.
std::shared_ptr<const Index> make_passing_index(RunSource& run, Progress& progress,
                                                unsigned threads, const Index* earlier);

}  // namespace timeloom::view
