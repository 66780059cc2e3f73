// Whether the files of an archive are there and end as they were written, from their last bytes.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "anchor.hpp"
#include "core/error.hpp"
#include "otf2.hpp"

namespace timeloom::otf2 {

namespace {

// The record at the end of a file, and the byte that the library writes behind each.
constexpr std::array<std::uint8_t, 2> kEnd = {2, 1};

bool is_whole(const ArchiveFile& file) {
  if (!file.exists()) return false;
  try {
    const InputDirectory::File opened = file.open();
    std::array<std::uint8_t, kEnd.size()> end{};
    return std::fseek(opened.get(), -static_cast<long>(end.size()), SEEK_END) == 0 &&
           std::fread(end.data(), 1, end.size(), opened.get()) == end.size() && end == kEnd;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::size_t unsound_files(const std::filesystem::path& path, std::span<const Location> locations) {
  const Anchor anchor = read_anchor(path);
  std::size_t unsound = is_whole(anchor.global_definitions()) ? 0 : 1;
  for (const Location& location : locations) {
    if (location.event_count > 0 && !is_whole(anchor.events(location.id))) ++unsound;
    if (!is_whole(anchor.local_definitions(location.id))) ++unsound;
  }
  return unsound;
}

}  // namespace timeloom::otf2
