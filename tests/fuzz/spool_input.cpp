#include "spool_input.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "spool/packed_segment.hpp"
#include "spool/spool_format.hpp"

namespace timeloom::fuzz {
namespace {

namespace fs = std::filesystem;
using namespace timeloom::spool;

constexpr std::size_t kStoredHead = 48;  // bytes of the head of a ring in an input

// The fields of a head, to be read and written in a string at any offset.
template <typename T>
T get(const std::string& bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}
template <typename T>
void put(std::string& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}
const std::byte* at(const std::string& bytes, std::size_t offset) {
  return reinterpret_cast<const std::byte*>(bytes.data()) + offset;
}

void repair_defs(std::string& defs) {
  if (defs.size() < sizeof(DefsHeader)) return;
  put(defs, 0, kDefsMagic);
  put(defs, 8, kVersion);
  put(defs, 12, checksum(at(defs, 0), 12));
  for (std::size_t i = sizeof(DefsHeader); i + sizeof(DefinitionHeader) <= defs.size();) {
    const std::size_t room = defs.size() - i - sizeof(DefinitionHeader);
    const std::size_t size = std::min<std::size_t>(get<std::uint32_t>(defs, i) & 0xff, room);
    put(defs, i, static_cast<std::uint32_t>(size));
    put(defs, i + 6, std::uint16_t{0});
    DefinitionHeader header{};
    std::memcpy(&header, at(defs, i), sizeof header);
    put(defs, i + 8, definition_check(header, at(defs, i + sizeof header)));
    i += sizeof header + size;
  }
}

void repair_head(std::string& bytes, std::size_t i) {
  put(bytes, i, kSegmentMagic);
  put(bytes, i + 32,
      segment_check(get<std::uint32_t>(bytes, i + 8), get<std::uint64_t>(bytes, i + 16),
                    get<std::uint64_t>(bytes, i + 24)));
}

// A packed segment at `i`, with its stored bytes; returns their number in the log.
std::size_t repair_packed(std::string& log, std::size_t i, std::size_t room) {
  const auto stored = static_cast<std::uint32_t>(
      std::min<std::size_t>(get<std::uint32_t>(log, i + 4) & 0xfff, room & ~std::size_t{7}));
  const std::uint32_t size = get<std::uint32_t>(log, i + 12) & 0xfff8;
  repair_head(log, i);
  put(log, i, kPackedMagic);
  put(log, i + 4, stored);
  put(log, i + 12, size);
  SegmentUnpacker unpacker;
  std::vector<EventWord> words;
  const auto* body = reinterpret_cast<const std::uint8_t*>(log.data()) + i + sizeof(PackedHeader);
  unpacker.unpack({body, stored}, size / 8, words);
  put(log, i + 40, records_check(words));
  put(log, i + 48,
      packed_seal(get<std::uint64_t>(log, i + 32), size, records_check(words), stored));
  return bytes_in_log(stored);
}

void repair_log(std::string& log) {
  for (std::size_t i = 0; i + sizeof(SegmentHeader) <= log.size();) {
    const std::size_t room = log.size() - i - sizeof(SegmentHeader);
    if (get<std::uint32_t>(log, i) == kPackedMagic) {
      i += sizeof(PackedHeader) + repair_packed(log, i, room);
      continue;
    }
    const std::size_t size =
        std::min<std::size_t>(get<std::uint32_t>(log, i + 12) & 0xfff, room) & ~std::size_t{7};
    put(log, i + 12, static_cast<std::uint32_t>(size));
    repair_head(log, i);
    std::vector<std::uint64_t> words(size / 8);
    if (size != 0) std::memcpy(words.data(), at(log, i + sizeof(SegmentHeader)), size);
    put(log, i + 40, records_check(words));
    put(log, i + 48,
        segment_seal(get<std::uint64_t>(log, i + 32), static_cast<std::uint32_t>(size),
                     records_check(words)));
    i += sizeof(SegmentHeader) + size;
  }
}

void repair_ring(std::string& ring) {
  if (ring.size() < sizeof(RingHeader)) return;
  put(ring, 0, kRingMagic);
  put(ring, 8, std::uint32_t{kVersion});
  put(ring, 12, kMinSegmentSize);
  put(ring, 20, checksum(at(ring, 0), 16));
  for (std::size_t i = kRingHeaderSize; i + sizeof(SegmentHeader) <= ring.size();
       i += kMinSegmentSize) {
    repair_head(ring, i);
  }
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string make_directory() {
  const char* const memory = "/dev/shm";
  const fs::path parent = fs::is_directory(memory) ? fs::path(memory) : fs::temp_directory_path();
  std::string path = (parent / "timeloom-fuzz-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) std::abort();
  fs::create_directory(path + "/spool");
  return path;
}

}  // namespace

const std::string& work_directory() {
  static const struct Directory {
    std::string path = make_directory();
    ~Directory() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  } directory;
  return directory.path;
}

const std::string& write_spool(std::span<const std::uint8_t> input) {
  static const std::string path = work_directory() + "/spool";
  std::string_view rest(reinterpret_cast<const char*>(input.data()), input.size());
  const auto take = [&rest](std::size_t size) {
    const std::string_view part = rest.substr(0, size);
    rest.remove_prefix(part.size());
    return std::string(part);
  };
  std::string head = take(5);
  head.resize(5);
  std::string defs = take(get<std::uint16_t>(head, 1));
  std::string log = take(get<std::uint16_t>(head, 3));
  std::string ring = take(kStoredHead);
  ring.resize(rest.empty() ? sizeof(RingHeader) : kRingHeaderSize);
  ring += take(rest.size());
  if ((head[0] & 1) != 0) {
    repair_defs(defs);
    repair_log(log);
    repair_ring(ring);
  }
  write(path + "/defs", defs);
  write(path + "/log", log);
  write(path + "/ring", ring);
  return path;
}

}  // namespace timeloom::fuzz
