// Whole files as bytes, for tests that damage them.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace timeloom::test {

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace timeloom::test
