#include "formats/cube/value_type.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <charconv>
#include <cstring>

#include "core/error.hpp"

namespace timeloom::cube {

namespace {

struct TypeName {
  std::string_view name;
  DataType type;
};

// The first name of each type is the one that is written.
constexpr TypeName kNames[] = {
    {"UINT64", DataType::kUint64},
    {"INT64", DataType::kInt64},
    {"DOUBLE", DataType::kDouble},
    {"MINDOUBLE", DataType::kMinDouble},
    {"MAXDOUBLE", DataType::kMaxDouble},
    {"UINT32", DataType::kUint32},
    {"INT32", DataType::kInt32},
    {"UINT16", DataType::kUint16},
    {"INT16", DataType::kInt16},
    {"UINT8", DataType::kUint8},
    {"INT8", DataType::kInt8},
    {"COMPLEX", DataType::kComplex},
    {"RATE", DataType::kRate},
    {"TAU_ATOMIC", DataType::kTauAtomic},
    {"NDOUBLES", DataType::kDoubles},
    {"HISTOGRAM", DataType::kHistogram},
    {"SCALE_FUNC", DataType::kScaleFunction},
    {"FLOAT", DataType::kDouble},
    {"INTEGER", DataType::kInt64},
    {"SIGNED INTEGER", DataType::kInt64},
    {"UNSIGNED INTEGER", DataType::kUint64},
    {"INT", DataType::kInt32},
    {"SIGNED INT", DataType::kInt32},
    {"UNSIGNED INT", DataType::kUint32},
    {"SHORT INT", DataType::kInt16},
    {"SIGNED SHORT INT", DataType::kInt16},
    {"UNSIGNED SHORT INT", DataType::kUint16},
    {"CHAR", DataType::kUint8},
};

constexpr std::size_t kTauSize = 36;
constexpr std::uint32_t kMostNumbers = 1u << 20;  // of one value

bool counted(DataType type) noexcept {
  return type == DataType::kDoubles || type == DataType::kHistogram;
}

[[noreturn]] void unknown(std::string_view name) {
  throw Error("the data type '" + std::string(name) + "' is not known");
}

std::uint32_t count_in(std::string_view name, std::string_view digits) {
  std::uint32_t count = 0;
  const auto end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data(), end, count);
  if (error != std::errc() || last != end || count == 0 || count > kMostNumbers) unknown(name);
  return count;
}

template <typename Number>
Number load_value(const std::byte* from) noexcept {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

template <typename Number>
void store(std::byte* to, Number number) noexcept {
  std::memcpy(to, &number, sizeof number);
}

// The size of the number, or of each number, in a value.
std::size_t word_size(DataType type) noexcept {
  switch (type) {
    case DataType::kUint32:
    case DataType::kInt32: return 4;
    case DataType::kUint16:
    case DataType::kInt16: return 2;
    case DataType::kUint8:
    case DataType::kInt8: return 1;
    default: return 8;
  }
}

void reverse_words(std::span<std::byte> bytes, std::size_t size) noexcept {
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    std::ranges::reverse(bytes.subspan(at, size));
  }
}

}  // namespace

std::size_t ValueType::size() const noexcept {
  switch (type) {
    case DataType::kComplex:
    case DataType::kRate: return 16;
    case DataType::kTauAtomic: return kTauSize;
    case DataType::kDoubles: return std::size_t{8} * count;
    case DataType::kHistogram:
    case DataType::kScaleFunction: return 0;
    default: return word_size(type);
  }
}

std::string ValueType::name() const {
  const auto* found =
      std::ranges::find_if(kNames, [this](const TypeName& one) { return one.type == type; });
  std::string name(found->name);
  if (counted(type)) name += "(" + std::to_string(count) + ")";
  return name;
}

ValueType value_type_of(std::string_view name) {
  const std::size_t bracket = name.find('(');
  std::string_view word = name.substr(0, bracket);
  while (word.ends_with(' ')) word.remove_suffix(1);
  const auto* found =
      std::ranges::find_if(kNames, [&](const TypeName& one) { return one.name == word; });
  if (found == std::end(kNames)) unknown(name);
  ValueType type{found->type, 1};
  if (counted(type.type) != (bracket != std::string_view::npos)) unknown(name);
  if (!counted(type.type)) return type;
  if (!name.ends_with(')')) unknown(name);
  std::string_view digits = name.substr(bracket + 1, name.size() - bracket - 2);
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  type.count = count_in(name, digits);
  return type;
}

void fill_neutral(ValueType type, std::span<std::byte> row) noexcept {
  std::ranges::fill(row, std::byte{0});
  const std::size_t size = type.size();
  for (std::size_t at = 0; size != 0 && at + size <= row.size(); at += size) {
    std::byte* value = row.data() + at;
    if (type.type == DataType::kMinDouble) store(value, DBL_MAX);
    if (type.type == DataType::kMaxDouble) store(value, -DBL_MAX);
    if (type.type == DataType::kTauAtomic) {
      store(value + 4, DBL_MAX);
      store(value + 12, -DBL_MAX);
    }
  }
}

void swap_bytes(ValueType type, std::span<std::byte> values) noexcept {
  if (type.type != DataType::kTauAtomic) {
    reverse_words(values, word_size(type.type));
    return;
  }
  for (std::size_t at = 0; at + kTauSize <= values.size(); at += kTauSize) {
    reverse_words(values.subspan(at, 4), 4);
    reverse_words(values.subspan(at + 4, kTauSize - 4), 8);
  }
}

double to_double(ValueType type, const std::byte* value) noexcept {
  switch (type.type) {
    case DataType::kUint64: return static_cast<double>(load_value<std::uint64_t>(value));
    case DataType::kInt64: return static_cast<double>(load_value<std::int64_t>(value));
    case DataType::kUint32: return load_value<std::uint32_t>(value);
    case DataType::kInt32: return load_value<std::int32_t>(value);
    case DataType::kUint16: return load_value<std::uint16_t>(value);
    case DataType::kInt16: return load_value<std::int16_t>(value);
    case DataType::kUint8: return load_value<std::uint8_t>(value);
    case DataType::kInt8: return load_value<std::int8_t>(value);
    case DataType::kTauAtomic: return load_value<double>(value + 20);
    default: return load_value<double>(value);
  }
}

bool to_count(ValueType type, const std::byte* value, std::uint64_t& count) noexcept {
  if (type.type == DataType::kUint64) {
    count = load_value<std::uint64_t>(value);
    return true;
  }
  constexpr double kMost = 0x1p63;
  const double number = to_double(type, value);
  if (!(number >= -kMost && number < kMost)) return false;  // NaN compares with nothing
  count = static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
  return true;
}

}  // namespace timeloom::cube
