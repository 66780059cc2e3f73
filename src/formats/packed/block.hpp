// A block: up to kBlockEvents events of one location, packed so that they can be unpacked alone.
//
// The body of its section has these streams (streams.hpp):
//
//   kOpen      varints: the regions that are open at its start, the outermost first
//   kRegions   varints: the regions that it enters, in the order of their first enters; each as the
//              difference from the one before it (zigzag)
//   kSymbols   a byte an event: 0 a leave of the innermost region, 1 another event, 2 to 254 the
//              enter of the region with this place in kRegions + 2, 255 the enter of a later one
//   kFar       varints: the places of these later ones, less kNearRegions
//   kShort     a byte an event: the time since the event before, where it is less than 248;
//              else 248 and the number of bytes in kRest
//   kLow       the lowest byte of these longer times, less 248
//   kRest      their other bytes, the lowest first
//   kKinds     a byte for each other event: its kind
//   then of each of these kinds: varints with the differences of references (zigzag), and with the
//   differences of values from the value before that had such a reference (zigzag)
//
// A leave needs no region, since regions are left in the opposite order of their enters. Byte
// streams whose bytes mean the same are packed better than records. Most times are short, and a
// counter that advances in steps has few different short ones.
#pragma once

#include <array>
#include <cstdint>

#include "core/event.hpp"
#include "formats/packed/packing_names.hpp"

namespace timeloom::packed {

inline constexpr std::uint32_t kBlockEvents = 1 << 15;

enum StreamId : std::uint8_t {
  kOpen = 0,
  kRegions = 1,
  kSymbols = 2,
  kFar = 3,
  kShort = 4,
  kLow = 5,
  kRest = 6,
  kKinds = 7,
  kFirstOfKinds = 8,  // two for each kind
};

inline constexpr std::uint8_t kLeaveSymbol = 0;
inline constexpr std::uint8_t kOtherSymbol = 1;
inline constexpr std::uint8_t kFirstRegionSymbol = 2;
inline constexpr std::uint8_t kFarSymbol = 255;
inline constexpr std::uint32_t kNearRegions = kFarSymbol - kFirstRegionSymbol;

inline constexpr std::uint64_t kLongTime = 248;  // one code for each number of further bytes

inline constexpr std::size_t kKindCount = static_cast<std::size_t>(kLastEventKind) + 1;
static_assert(kFirstOfKinds + 2 * kKindCount <= 256);

constexpr std::uint8_t refs_of(std::size_t kind) noexcept {
  return static_cast<std::uint8_t>(kFirstOfKinds + 2 * kind);
}
constexpr std::uint8_t values_of(std::size_t kind) noexcept {
  return static_cast<std::uint8_t>(refs_of(kind) + 1);
}

// The reference and the values that the next event of a kind is compared with.
struct Expected {
  std::uint32_t ref = 0;
  std::array<std::uint64_t, 16> values{};
  std::uint64_t& value(std::uint32_t of) noexcept { return values[of % values.size()]; }
};

// The facts about a block in the head of its section.
struct BlockFacts {
  std::uint32_t events = 0;
  std::uint64_t first = 0;  // time of its first event
};

struct PackedBlock : BlockFacts {
  Bytes body;
};

}  // namespace timeloom::packed
