// MANIFEST.md of a run: what each file is and which tool opens it.
#pragma once

#include <filesystem>

namespace timeloom::weave {

// Writes `run`/MANIFEST.md for the files that are there. Throws Error.
void write_manifest(const std::filesystem::path& run);

}  // namespace timeloom::weave
