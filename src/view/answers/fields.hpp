// The fields of questions and answers of the viewer's page.
//
// Plain values. An invalid question throws BadQuestion.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "view/index/index_format.hpp"

namespace timeloom::view {

struct BadQuestion {
  const char* reason;
};

class QuestionReader {
 public:
  explicit QuestionReader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const noexcept { return bytes_.empty(); }
  std::size_t left() const noexcept { return bytes_.size(); }
  std::uint32_t u32() { return take<std::uint32_t>(); }
  // A number from `least` to `most`.
  std::uint32_t u32(std::uint32_t least, std::uint32_t most) {
    const std::uint32_t value = u32();
    if (value < least || value > most) throw BadQuestion{"a number is beyond its limits"};
    return value;
  }
  // A time or duration; larger values become the last possible time.
  std::uint64_t time() {
    const double value = take<double>();
    if (std::isnan(value)) throw BadQuestion{"a time is not a number"};
    if (value <= 0) return 0;
    const auto last = static_cast<double>(kLastTime);
    return value >= last ? kLastTime : static_cast<std::uint64_t>(std::ceil(value));
  }
  // All remaining bytes.
  std::string_view rest() noexcept { return std::exchange(bytes_, {}); }
  void end() const {
    if (!at_end()) throw BadQuestion{"the question is longer than its fields"};
  }

 private:
  template <typename Value>
  Value take() {
    Value value;
    if (bytes_.size() < sizeof value) throw BadQuestion{"the question is shorter than its fields"};
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }

  std::string_view bytes_;
};

class AnswerWriter {
 public:
  void u32(std::uint32_t value) { append(&value, sizeof value); }
  void f64(std::uint64_t value) {
    const auto real = static_cast<double>(value);
    append(&real, sizeof real);
  }
  void real(double value) { append(&value, sizeof value); }
  template <typename Value>
  void array(std::span<const Value> values) {
    append(values.data(), values.size_bytes());
    pad();
  }
  // Writes the records field by field.
  template <typename Records, typename Get>
  void u32s(const Records& records, const Get& get) {
    for (const auto& record : records) u32(get(record));
    pad();
  }
  template <typename Records, typename Get>
  void f64s(const Records& records, const Get& get) {
    for (const auto& record : records) f64(get(record));
  }
  void pad() { bytes_.resize(padded(bytes_.size())); }
  std::string take() { return std::move(bytes_); }

 private:
  void append(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }

  std::string bytes_;
};

}  // namespace timeloom::view
