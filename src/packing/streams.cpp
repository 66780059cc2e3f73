#include "packing/streams.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "core/error.hpp"

namespace timeloom::packing {
namespace {

constexpr int kLevel = 1;
constexpr std::size_t kSmallest = 32;  // smaller streams are stored as they are

// A stream of bytes that are all alike becomes this much smaller at most: the memory for damaged
// streams is limited by their sizes in the file.
constexpr std::uint64_t kMostGain = 256;
constexpr std::uint64_t kAlwaysAllowed = 1 << 16;

constexpr bool is_allowed(std::uint64_t size, std::uint64_t stored) {
  return size <= kAlwaysAllowed || (size - kAlwaysAllowed) / kMostGain <= stored;
}

template <typename T>
T* checked(T* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void FreeZstd::operator()(ZSTD_CCtx_s* memory) const noexcept { ZSTD_freeCCtx(memory); }
void FreeZstd::operator()(ZSTD_DCtx_s* memory) const noexcept { ZSTD_freeDCtx(memory); }

void StreamWriter::add(Compressor& compressor, std::uint8_t id, ByteSpan bytes) {
  if (bytes.empty()) return;
  const std::size_t before = stored_.size();
  std::size_t stored = bytes.size();
  if (bytes.size() >= kSmallest) {
    if (!compressor) compressor.reset(checked(ZSTD_createCCtx()));
    stored_.resize(before + ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compressCCtx(compressor.get(), stored_.data() + before, stored_.size() - before,
                          bytes.data(), bytes.size(), kLevel);
    if (ZSTD_isError(size) != 0) {
      throw Error(std::string("zstd cannot pack: ") + ZSTD_getErrorName(size) + " [TL068]");
    }
    if (size < bytes.size() && is_allowed(bytes.size(), size)) stored = size;
    stored_.resize(before + (stored == bytes.size() ? 0 : stored));
  }
  if (stored == bytes.size()) stored_.insert(stored_.end(), bytes.begin(), bytes.end());
  ++count_;
  head_.push_back(id);
  put_varint(head_, bytes.size());
  put_varint(head_, stored);
}

void StreamWriter::finish(Bytes& to) {
  to.reserve(to.size() + 1 + head_.size() + stored_.size());
  to.push_back(count_);
  to.insert(to.end(), head_.begin(), head_.end());
  to.insert(to.end(), stored_.begin(), stored_.end());
  count_ = 0;
  head_.clear();
  stored_.clear();
}

Bytes StreamWriter::take() {
  Bytes body;
  finish(body);
  return body;
}

bool StreamReader::read(Decompressor& decompressor, ByteSpan body, std::uint64_t most) {
  ids_.clear();
  parts_.clear();
  ByteReader reader(body);
  std::vector<std::uint64_t> sizes(reader.byte());
  std::size_t total = 0;
  for (std::uint64_t& stored : sizes) {
    const std::uint8_t id = reader.byte();
    const std::uint64_t size = reader.varint();
    stored = reader.varint();
    const bool ordered = ids_.empty() || ids_.back() < id;
    if (reader.failed() || !ordered || size == 0 || stored > size || stored > body.size() ||
        size > most - total || !is_allowed(size, stored)) {
      return false;
    }
    ids_.push_back(id);
    parts_.push_back({total, static_cast<std::size_t>(size)});
    total += size;
  }
  bytes_.resize(std::max(bytes_.size(), total));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ByteSpan stored = reader.bytes(sizes[i]);
    if (reader.failed()) return false;
    std::uint8_t* const to = bytes_.data() + parts_[i].at;
    if (stored.size() == parts_[i].size) {
      std::memcpy(to, stored.data(), stored.size());
      continue;
    }
    if (!decompressor) decompressor.reset(checked(ZSTD_createDCtx()));
    const std::size_t size =
        ZSTD_decompressDCtx(decompressor.get(), to, parts_[i].size, stored.data(), stored.size());
    if (ZSTD_isError(size) != 0 || size != parts_[i].size) return false;
  }
  return !reader.failed() && reader.at_end();
}

ByteSpan StreamReader::stream(std::uint8_t id) const {
  const auto found = std::ranges::lower_bound(ids_, id);
  if (found == ids_.end() || *found != id) return {};
  const Part& part = parts_[static_cast<std::size_t>(found - ids_.begin())];
  return {bytes_.data() + part.at, part.size};
}

}  // namespace timeloom::packing
