// The files of a run directory, with their purposes and the tools that open them.
//
// Plain functions; a file that vanishes meanwhile is left out. Throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace timeloom::tools {

struct RunFile {
  std::string name;         // a directory ends in '/'
  std::uint64_t bytes = 0;  // of a directory: of all files below it
  std::uint64_t files = 1;
  std::string what;       // what it holds; empty: unknown
  std::string opened_by;  // tools; empty: unknown, or opened through another file
};

// In order of their names.
std::vector<RunFile> files_of(const std::filesystem::path& run);

}  // namespace timeloom::tools
