#include "core/unmeasured.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace timeloom {
namespace {

constexpr std::uint64_t kMostRead = 1 << 20;  // a sparse file may be huge

}  // namespace

Unmeasured read_unmeasured(const os::File& file) {
  Unmeasured counts;
  std::array<std::byte, 4096> part;
  int error = 0;
  std::uint64_t read = 0;
  while (file.is_open() && error == 0 && read < kMostRead) {
    const std::size_t size = file.read_at(read, part, &error);
    if (size == 0 || error != 0) break;
    const auto marks = std::span(part).first(size);
    const auto found = std::count(marks.begin(), marks.end(), std::byte{'i'});
    counts.interpreters += static_cast<std::uint64_t>(found);
    read += size;
  }
  counts.processes = read - counts.interpreters;
  return counts;
}

}  // namespace timeloom
