// MANIFEST.md of a run: what each file is and which tool opens it. Called by the
// thread that weaves.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace timeloom::weave {

inline constexpr char kManifestName[] = "MANIFEST.md";

// Writes `directory`/MANIFEST.md for a run with the files of these names, as
// far as there is something to say of them. Throws Error.
void write_manifest(const std::filesystem::path& directory, const std::set<std::string>& names);

}  // namespace timeloom::weave
