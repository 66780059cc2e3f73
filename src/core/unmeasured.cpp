#include "core/unmeasured.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "core/text/count_text.hpp"

namespace timeloom {
namespace {

constexpr std::uint64_t kMostRead = 1 << 20;  // a sparse file may be huge

}  // namespace

std::string left_out_workers_text(std::uint64_t count) {
  return plural(count, "worker") + " left out: --workers [TL478]";
}

Unmeasured read_unmeasured(const os::File& file) {
  Unmeasured counts;
  std::array<std::byte, 4096> part;
  int error = 0;
  std::uint64_t read = 0;
  while (file.is_open() && error == 0 && read < kMostRead) {
    const std::size_t size = file.read_at(read, part, &error);
    if (size == 0 || error != 0) break;
    const auto marks = std::span(part).first(size);
    const auto count = [&](char mark) {
      const auto found = std::count(marks.begin(), marks.end(), static_cast<std::byte>(mark));
      return static_cast<std::uint64_t>(found);
    };
    counts.interpreters += count('i');
    counts.workers += count('w');
    read += size;
  }
  counts.processes = read - counts.interpreters - counts.workers;
  return counts;
}

}  // namespace timeloom
