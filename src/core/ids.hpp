// Strong types for the ids and times of a measurement.
//
// An Id is the number of one definition (region, location, ...) in its table of definitions.
// Ids of different tables do not convert into each other. Plain values; nothing throws.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace timeloom {

template <typename Tag, typename Rep>
class Id {
 public:
  using rep = Rep;
  constexpr Id() noexcept = default;
  constexpr explicit Id(Rep value) noexcept : value_(value) {}
  constexpr Rep value() const noexcept { return value_; }
  constexpr bool defined() const noexcept { return value_ != std::numeric_limits<Rep>::max(); }
  friend constexpr bool operator==(Id, Id) noexcept = default;
  // Not defaulted: the defaulted operator compares its own result with 0, and linters warn of it.
  friend constexpr std::strong_ordering operator<=>(Id a, Id b) noexcept {
    return a.value_ <=> b.value_;
  }

 private:
  Rep value_ = std::numeric_limits<Rep>::max();  // all ones: undefined
};

using RegionId = Id<struct RegionTag, std::uint32_t>;
using StringId = Id<struct StringTag, std::uint32_t>;
using ParameterId = Id<struct ParameterTag, std::uint32_t>;
using MetricId = Id<struct MetricTag, std::uint32_t>;
using CommunicatorId = Id<struct CommunicatorTag, std::uint32_t>;
using IoHandleId = Id<struct IoHandleTag, std::uint32_t>;
using LocationGroupId = Id<struct LocationGroupTag, std::uint32_t>;
using ContextId = Id<struct ContextTag, std::uint32_t>;

// A location is one thread of one location group (process). In files of Score-P
// its value is (index of the thread << 32) | rank.
using LocationId = Id<struct LocationTag, std::uint64_t>;

// A point in time, in ticks of the clock of the Definitions it belongs to.
enum class Timestamp : std::uint64_t {};
constexpr std::uint64_t ticks(Timestamp time) noexcept { return static_cast<std::uint64_t>(time); }

}  // namespace timeloom

template <typename Tag, typename Rep>
struct std::hash<timeloom::Id<Tag, Rep>> {
  std::size_t operator()(timeloom::Id<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
