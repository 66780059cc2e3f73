// Checks that the files of an archive exist and end as they were written, from their last bytes and
// from the heads of event chunks.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "core/error.hpp"
#include "formats/otf2/otf2.hpp"
#include "formats/otf2/read/otf2_anchor.hpp"

namespace timeloom::otf2 {

namespace {

// The record at the end of a file, with the byte that the library writes behind each record.
constexpr std::array<std::uint8_t, 2> kEnd = {2, 1};

bool ends_as_written(std::FILE* file) {
  std::array<std::uint8_t, kEnd.size()> end{};
  return std::fseek(file, -static_cast<long>(end.size()), SEEK_END) == 0 &&
         std::fread(end.data(), 1, end.size(), file) == end.size() && end == kEnd;
}

// The numbers of the first and the last event of a chunk, counted from 1. Empty: no chunk starts
// here.
std::optional<std::array<std::uint64_t, 2>> events_of_chunk(std::FILE* file) {
  std::array<std::uint8_t, 18> head{};
  if (std::fread(head.data(), 1, head.size(), file) != head.size()) return {};
  const bool big_endian = head[1] == 0x23;
  if (head[0] != 3 || (head[1] != 0x42 && !big_endian)) return {};
  std::array<std::uint64_t, 2> numbers{};
  for (std::size_t i = 0; i < 16; ++i) {
    const std::size_t place = big_endian ? 7 - i % 8 : i % 8;
    numbers[i / 8] |= std::uint64_t{head[2 + i]} << 8 * place;
  }
  return numbers;
}

// True if each chunk continues where the one before ended.
bool has_its_chunks(std::FILE* file, std::uint64_t chunk) {
  if (std::fseek(file, 0, SEEK_END) != 0) return false;
  const auto size = static_cast<std::uint64_t>(std::ftell(file));
  std::uint64_t next = 1;
  for (std::uint64_t at = 0; at < size; at += chunk) {
    if (std::fseek(file, static_cast<long>(at), SEEK_SET) != 0) return false;
    const auto events = events_of_chunk(file);
    if (!events || (*events)[0] != next) return false;
    next = (*events)[1] + 1;
  }
  return true;
}

// `chunk`: chunk size of an event file; 0: another file.
bool is_whole(const ArchiveFile& file, std::uint64_t chunk) {
  if (!file.exists()) return false;
  try {
    const InputDirectory::File opened = file.open();
    std::setvbuf(opened.get(), nullptr, _IONBF, 0);  // a few bytes here and there
    return ends_as_written(opened.get()) && (chunk == 0 || has_its_chunks(opened.get(), chunk));
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::size_t unsound_files(const std::filesystem::path& path, std::span<const Location> locations) {
  const Anchor anchor = read_anchor(path);
  std::size_t unsound = is_whole(anchor.global_definitions(), 0) ? 0 : 1;
  for (const Location& location : locations) {
    const bool has_events = location.event_count > 0;
    if (has_events && !is_whole(anchor.events(location.id), anchor.event_chunk)) ++unsound;
    if (!is_whole(anchor.local_definitions(location.id), 0)) ++unsound;
  }
  return unsound;
}

}  // namespace timeloom::otf2
