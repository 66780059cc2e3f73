#include "spool/waits/wait_reader.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>

#include "os/file.hpp"
#include "spool/packed_rows.hpp"

namespace timeloom::spool {
namespace {

using WaitPayload = std::vector<std::uint64_t>;

template <typename Value>
bool take_wait(const WaitPayload& payload, Value& value) {
  if (payload.size() * 8 < sizeof value) return false;
  std::memcpy(&value, payload.data(), sizeof value);
  return true;
}

void add_spans(WaitData& data, const WaitPayload& payload) {
  const std::size_t count = payload.size() * 8 / sizeof(WaitSpan);
  for (std::size_t i = 0; i < count; ++i) {
    WaitSpan span{};
    std::memcpy(&span, payload.data() + i * sizeof span / 8, sizeof span);
    if (span.first <= span.last && span.looks() > 0) data.spans.push_back(span);
  }
}

// Packed spans take far less space in a file than in memory.
constexpr std::size_t kMostWaitSpans = std::size_t{1} << 26;

bool add_packed_spans(WaitData& data, const WaitPayload& payload) {
  if (data.spans.size() >= kMostWaitSpans) return false;
  RowUnpacker unpacker;
  WaitPayload rows;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(payload.data());
  constexpr std::size_t kMost = kLargestWaitBlock / sizeof(WaitSpan);
  if (!unpacker.unpack({bytes, payload.size() * 8}, kMost, rows)) return false;
  add_spans(data, rows);
  return true;
}

bool add_wait_block(WaitData& data, WaitBlockKind kind, const WaitPayload& payload) {
  switch (kind) {
    case WaitBlockKind::kSpans: add_spans(data, payload); return true;
    case WaitBlockKind::kPacked: return add_packed_spans(data, payload);
    case WaitBlockKind::kGil: {
      std::uint64_t range[2];
      if (!take_wait(payload, range) || range[0] > range[1]) return false;
      data.gil_from = range[0];
      data.gil_to = range[1];
      return true;
    }
    case WaitBlockKind::kLoad: {
      WaitLoad load{};
      if (!take_wait(payload, load)) return false;
      data.loads.push_back(load);
      return true;
    }
    case WaitBlockKind::kHidden: data.hidden = true; return true;
    case WaitBlockKind::kLost: return true;  // these gaps are told by names, as short ones
  }
  return true;  // a kind from a later version
}

template <typename Value>
bool read_wait(const os::File& file, std::uint64_t offset, std::span<Value> to) {
  int error = 0;
  const auto bytes = std::as_writable_bytes(to);
  return file.read_at(offset, bytes, &error) == bytes.size() && error == 0;
}

bool has_wait_head(const os::File& file) {
  WaitHeader header{};
  if (!read_wait(file, 0, std::span(&header, 1))) return false;
  const std::uint32_t check =
      checksum(reinterpret_cast<const std::byte*>(&header), sizeof header - sizeof header.check);
  const bool known = header.version == kWaitVersion || header.version == kPackedWaitVersion;
  return header.magic == kWaitMagic && known && header.check == check;
}

}  // namespace

WaitData read_waits(const SpoolDirectory& directory) {
  WaitData data;
  int error = 0;
  const os::File file = directory.open(kWaitFile, &error);
  if (error != 0) return data;
  const std::uint64_t size = file.size(&error);
  data.damaged = !has_wait_head(file);
  data.present = !data.damaged;
  WaitPayload payload;
  for (std::uint64_t offset = sizeof(WaitHeader); !data.damaged && offset < size;) {
    WaitBlock block{};
    data.damaged = true;  // until the block is known to be intact
    if (!read_wait(file, offset, std::span(&block, 1))) break;
    if (block.size % 8 != 0 || block.size > kLargestWaitBlock) break;
    payload.resize(block.size / 8);
    if (!read_wait(file, offset + sizeof block, std::span(payload))) break;
    if (block.check != wait_check(block.kind, payload)) break;
    data.damaged = !add_wait_block(data, block.kind, payload);
    offset += sizeof block + block.size;
  }
  std::ranges::stable_sort(
      data.spans, {}, [](const WaitSpan& span) { return std::tuple(span.location, span.first); });
  return data;
}

}  // namespace timeloom::spool
