// Messages of Protocol Buffers, field by field: the part of the encoding that Timeloom's formats
// need. The field numbers come from the format's .proto file.
//
// Plain values. Throws only std::bad_alloc.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace timeloom::exchange {

class ProtoMessage {
 public:
  // Fields of type uint32, uint64, enum and bool.
  void number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  // Fields of type int32 and int64.
  void integer(std::uint32_t field, std::int64_t value) {
    number(field, std::bit_cast<std::uint64_t>(value));
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | 1);
    for (int byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(value >> (8 * byte));
  }
  void real(std::uint32_t field, double value) {
    fixed64(field, std::bit_cast<std::uint64_t>(value));
  }
  // Fields of type string and bytes. REQUIRES for strings: valid UTF-8.
  void text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const ProtoMessage& value) { text(field, value.bytes_); }
  // An element of a packed field; text() takes the whole field.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  const std::string& bytes() const noexcept { return bytes_; }
  void clear() noexcept { bytes_.clear(); }

 private:
  std::string bytes_;
};

}  // namespace timeloom::exchange
