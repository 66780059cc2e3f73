// Numbers of variable length, seven bits a byte, and a reader of bytes that checks their limits.
//
// Plain functions and values, for any thread; nothing throws but std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace timeloom::packing {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

inline constexpr std::size_t kLongestVarint = 10;

// Writes a number at `to`, which has room for kLongestVarint bytes; returns the end.
inline std::uint8_t* put_varint(std::uint8_t* to, std::uint64_t value) noexcept {
  for (; value >= 128; value >>= 7) *to++ = static_cast<std::uint8_t>(value | 128);
  *to++ = static_cast<std::uint8_t>(value);
  return to;
}

inline void put_varint(Bytes& to, std::uint64_t value) {
  for (; value >= 128; value >>= 7) to.push_back(static_cast<std::uint8_t>(value | 128));
  to.push_back(static_cast<std::uint8_t>(value));
}

// Small differences in both directions become small numbers.
constexpr std::uint64_t zigzag(std::uint64_t difference) noexcept {
  return (difference << 1) ^ (0 - (difference >> 63));
}
constexpr std::uint64_t unzigzag(std::uint64_t number) noexcept {
  return (number >> 1) ^ (0 - (number & 1));
}

// Reads from bytes that may be damaged. After a failure, all numbers are 0.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(ByteSpan bytes) noexcept
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool failed() const noexcept { return failed_; }
  bool at_end() const noexcept { return at_ == end_; }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  void fail() noexcept {
    failed_ = true;
    at_ = end_;
  }

  std::uint8_t byte() noexcept {
    if (at_ != end_) return *at_++;
    fail();
    return 0;
  }

  std::uint64_t varint() noexcept {
    if (at_ != end_ && *at_ < 128) return *at_++;
    return long_varint();
  }

  ByteSpan bytes(std::uint64_t size) noexcept {
    if (size > left()) {
      fail();
      return {};
    }
    const ByteSpan result(at_, static_cast<std::size_t>(size));
    at_ += size;
    return result;
  }

 private:
  std::uint64_t long_varint() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const std::uint8_t byte = *at_++;
      if (shift == 63 && byte > 1) break;  // more than 64 bits
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    fail();
    return 0;
  }

  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  bool failed_ = false;
};

}  // namespace timeloom::packing
