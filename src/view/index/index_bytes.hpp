// Bytes of an index: variable-length numbers, and parts of a file with their checks.
//
// Plain values and functions. A reader throws DamagedIndex where bytes end too early or are
// invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "view/index/index_format.hpp"

namespace timeloom::view {

// The index is damaged; it can be rebuilt.
class DamagedIndex : public Error {
 public:
  DamagedIndex()
      : Error(
            "the index of the viewer is damaged; start timeloom view again, which makes it anew "
            "[TL501]") {}
};

[[noreturn]] inline void damaged() { throw DamagedIndex(); }

inline void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

// Reads bytes that outlive it.
class ByteReader {
 public:
  ByteReader() = default;
  ByteReader(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  bool at_end() const noexcept { return at_ == end_; }
  std::uint8_t byte() {
    if (at_ == end_) damaged();
    return *at_++;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      value |= std::uint64_t{next & 0x7fu} << shift;
      if (next < 0x80) return value;
    }
    damaged();
  }
  std::uint32_t varint32() {
    const std::uint64_t value = varint();
    if (value > UINT32_MAX) damaged();
    return static_cast<std::uint32_t>(value);
  }

 private:
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
};

// A part of a file in memory, at a multiple of 8 bytes.
using Words = std::vector<std::uint64_t>;

inline const std::uint8_t* bytes_of(const Words& words) noexcept {
  return reinterpret_cast<const std::uint8_t*>(words.data());
}

inline std::uint32_t check_of(std::span<const std::uint64_t> words) noexcept {
  // The lower half depends on all bits; the exclusive or of both halves would not.
  return static_cast<std::uint32_t>(words_check(words));
}

}  // namespace timeloom::view
