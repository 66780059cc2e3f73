// The types of values of CUBE metrics: their size in the file, and the neutral value that stands
// for "no value".
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
  kMinDouble,  // values are joined by their minimum
  kMaxDouble,  // values are joined by their maximum
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

// The type with that name; some types have several names. Throws Error.
ValueType value_type_of(std::string_view name);

// Fills the row with the neutral value, which changes nothing when it is joined with others. Rows
// that are missing in the file read as neutral.
void fill_neutral(ValueType type, std::span<std::byte> row) noexcept;

// Reverses the bytes of each number of the values.
void swap_bytes(ValueType type, std::span<std::byte> values) noexcept;

// The value as one number: the first of several numbers; for kTauAtomic the sum.
double to_double(ValueType type, const std::byte* value) noexcept;
// The value as a count; negative values, as in differences of profiles, in two's complement.
// Returns false if it is not a count: broken or too large.
bool to_count(ValueType type, const std::byte* value, std::uint64_t& count) noexcept;

}  // namespace timeloom::cube
