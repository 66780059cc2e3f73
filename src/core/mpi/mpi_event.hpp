// The operands of MPI events, which do not fit into one Event.
//
// An Event of a message or collective operation follows events of kind kOperand, one for each of
// its operands, with the same time:
//
//   kind             messages                       collective operations
//   kPeerAndTag      rank of the peer in the         operation, rank of the root (kNoRoot: none)
//                    communicator, tag
//   kReceived                                       bytes received
//   kRequest         request of a non-blocking operation, for both
//
// kPeerAndTag holds two u32: the first named above | the second << 32. Plain values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/event.hpp"

namespace timeloom {

// With the numbers of OTF2.
enum class CollectiveKind : std::uint8_t {
  kBarrier = 0,
  kBcast = 1,
  kGather = 2,
  kGatherv = 3,
  kScatter = 4,
  kScatterv = 5,
  kAllgather = 6,
  kAllgatherv = 7,
  kAlltoall = 8,
  kAlltoallv = 9,
  kAlltoallw = 10,
  kAllreduce = 11,
  kReduce = 12,
  kReduceScatter = 13,
  kScan = 14,
  kExscan = 15,
  kReduceScatterBlock = 16,
  kCreateHandle = 17,
  kDestroyHandle = 18,
};

// Metrics of a call path: the bytes of messages and collective operations.
inline constexpr char kBytesSent[] = "bytes_sent";
inline constexpr char kBytesReceived[] = "bytes_received";

enum class OperandKind : std::uint32_t { kPeerAndTag = 0, kReceived = 1, kRequest = 2 };

constexpr std::uint64_t pair_of(std::uint32_t first, std::uint32_t second) noexcept {
  return first | (std::uint64_t{second} << 32);
}
constexpr std::uint32_t first_of(std::uint64_t pair) noexcept {
  return static_cast<std::uint32_t>(pair);
}
constexpr std::uint32_t second_of(std::uint64_t pair) noexcept {
  return static_cast<std::uint32_t>(pair >> 32);
}

inline Event operand(Timestamp time, OperandKind place, std::uint64_t value) noexcept {
  return {time, EventKind::kOperand, static_cast<std::uint32_t>(place), value};
}

// Collects the operands of the next event on one location.
class Operands {
 public:
  // Returns whether the event was an operand; any other event is not looked at.
  bool take(const Event& event) noexcept {
    if (event.kind != EventKind::kOperand) return false;
    if (event.ref < values_.size()) values_[event.ref] = event.value;
    return true;
  }
  std::uint32_t peer() const noexcept { return first_of(values_[0]); }
  std::uint32_t tag() const noexcept { return second_of(values_[0]); }
  CollectiveKind operation() const noexcept {
    return static_cast<CollectiveKind>(first_of(values_[0]));
  }
  std::uint32_t root() const noexcept { return second_of(values_[0]); }
  std::uint64_t received() const noexcept { return values_[1]; }
  std::uint64_t request() const noexcept { return values_[2]; }

 private:
  std::array<std::uint64_t, 3> values_{};
};

}  // namespace timeloom
