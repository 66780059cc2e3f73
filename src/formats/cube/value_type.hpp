// The types of values of CUBE metrics: size in the file, and the neutral value that stands
// for "nothing here".
//
// Plain values and functions without state. Functions that take text throw Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace timeloom::cube {

enum class DataType : std::uint8_t {
  kUint64,
  kInt64,
  kDouble,
  kMinDouble,  // the least counts when values are joined
  kMaxDouble,  // the greatest counts
  kUint32,
  kInt32,
  kUint16,
  kInt16,
  kUint8,
  kInt8,
  kComplex,        // two doubles
  kRate,           // two doubles
  kTauAtomic,      // u32 count, then the doubles min, max, sum, sum of squares; not aligned
  kDoubles,        // NDOUBLES(n)
  kHistogram,      // HISTOGRAM(n): its values are not read
  kScaleFunction,  // SCALE_FUNC: its values have no fixed size and are not read
};

struct ValueType {
  DataType type = DataType::kUint64;
  std::uint32_t count = 1;  // the n of NDOUBLES(n) and HISTOGRAM(n)

  // Bytes of a value in the file; 0: values of this type are not read.
  std::size_t size() const noexcept;
  std::string name() const;
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

// The type of that name, of which there are several for some. Throws Error.
ValueType value_type_of(std::string_view name);

// Writes the value that changes nothing when it is joined with others into each
// value of the row: what a row that is not in the file reads as.
void fill_neutral(ValueType type, std::span<std::byte> row) noexcept;

// Reverses the bytes of each number of the values.
void swap_bytes(ValueType type, std::span<std::byte> values) noexcept;

// The value as one number: of several numbers the first, of kTauAtomic the sum.
double to_double(ValueType type, const std::byte* value) noexcept;
// The value as a count, a negative one, as differences of profiles have, in two's complement;
// false if it is none: broken or too large.
bool to_count(ValueType type, const std::byte* value, std::uint64_t& count) noexcept;

}  // namespace timeloom::cube
