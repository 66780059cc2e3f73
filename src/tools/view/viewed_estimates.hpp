// The times of functions in a part of a run of `--overhead` with samples, as `timeloom report` has
// them: estimated where calls were left out.
//
// A plain function, used by one thread. Throws Error for files that are damaged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "view/index/index.hpp"

namespace timeloom::tools {

// JSON, see docs/formats/view-http.md. `run`: its trace. Times are ticks since the start of the
// run.
std::string estimates_for_viewer(const std::filesystem::path& run, const Definitions& definitions,
                                 const view::Index& index, const std::vector<std::uint32_t>& tracks,
                                 std::uint64_t from, std::uint64_t to);

}  // namespace timeloom::tools
