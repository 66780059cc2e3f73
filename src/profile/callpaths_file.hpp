// callpaths.json: the CallTree of a run, kept beside its trace so that a huge
// trace need not be read again. docs/formats/callpaths.md describes the file.
//
// Plain functions without state; any thread may call them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "profile/call_tree.hpp"

namespace timeloom::profile {

inline constexpr int kCallpathsVersion = 2;

// Writes the tree to `file`, which is overwritten. Throws Error.
void save(const CallTree& tree, const std::filesystem::path& file);

// Reads it back. Everything is checked; throws Error when the file cannot be
// read, is damaged or of a version that is not known.
CallTree load(const std::filesystem::path& file);

// The same from and to text; `name` is what an error calls it.
std::string to_json(const CallTree& tree);
CallTree from_json(std::string_view text, const std::string& name);

}  // namespace timeloom::profile
