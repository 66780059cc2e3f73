// The file `waits` of a spool: for what threads of the process waited, found by looking at them
// from time to time. docs/formats/spool.md describes its bytes for other readers.
//
// Plain values and pure functions, for any thread.
#pragma once

#include <cstdint>
#include <span>

#include "core/checksum.hpp"

namespace timeloom::spool {

inline constexpr char kWaitFile[] = "waits";
inline constexpr std::uint64_t kWaitMagic = 0x31544941574c5401;  // "\x01TLWAIT1"
inline constexpr std::uint16_t kWaitVersion = 1;
// Of a file that may have packed spans.
inline constexpr std::uint16_t kPackedWaitVersion = 2;

struct WaitHeader {
  std::uint64_t magic;
  std::uint16_t version;
  std::uint16_t reserved;
  std::uint32_t check;  // checksum() of the bytes before
};
static_assert(sizeof(WaitHeader) == 16);

enum class WaitBlockKind : std::uint32_t {
  kSpans = 1,   // WaitSpan, any number
  kGil = 2,     // u64, u64: the addresses of the words of the interpreter's lock, from, up to
  kLost = 3,    // u64: spans lost so far, from the start of the file to this block
  kHidden = 4,  // u64, 0: the system does not tell for what threads wait
  kLoad = 5,    // WaitLoad
  kPacked = 6   // spans, as a RowPacker packs them, then zeros up to a multiple of 8
};

// Before each payload, whose size is a multiple of 8.
struct WaitBlock {
  WaitBlockKind kind;
  std::uint32_t size;   // of the payload, in bytes
  std::uint64_t check;  // wait_check()
};
static_assert(sizeof(WaitBlock) == 16);
inline constexpr std::uint32_t kLargestWaitBlock = 1 << 20;

constexpr std::uint64_t wait_check(WaitBlockKind kind, std::span<const std::uint64_t> payload) {
  return mix(words_check(payload), static_cast<std::uint64_t>(kind));
}

// The kind of a span; 1 to 8 are the kinds of os::WaitKind.
enum class WaitSpanKind : std::uint8_t {
  kFutex = 1,   // word: its address
  kShared = 2,  // the same
  kThreadEnd = 3,
  kProcess = 4,
  kFile = 5,
  kSocket = 6,
  kTime = 7,
  kOther = 8,       // word: number of the system call
  kProcessor = 16,  // word: nanoseconds in which the thread was ready and had no processor
  // Of a thread in profile mode: it waited from `first` to `last`. word: see WaitGap.
  kGap = 17
};

// A wait, in the word of its span: a profile has no events by which it would be found.
struct WaitGap {
  static constexpr int kNanosecondBits = 44;
  std::uint32_t place;   // of the call path in the profile of the thread, below 2^20
  std::uint64_t waited;  // nanoseconds
  static constexpr std::uint64_t kMost = (std::uint64_t{1} << kNanosecondBits) - 1;
  constexpr std::uint64_t word() const noexcept {
    return std::uint64_t{place} << kNanosecondBits | (waited < kMost ? waited : kMost);
  }
  static constexpr WaitGap of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> kNanosecondBits), word & kMost};
  }
};

// Several looks at one thread, one after the other, that found the same kind and word. Of
// kProcessor and kGap: the time from one reading of its clocks to the next.
struct WaitSpan {
  std::uint64_t first;  // ticks
  std::uint64_t last;
  std::uint32_t location;  // index of the thread
  std::uint32_t what;      // kind in bits 24 to 31, number of looks in bits 0 to 23
  std::uint64_t word;

  static constexpr std::uint32_t kLooks = (1u << 24) - 1;
  static constexpr std::uint32_t what_of(WaitSpanKind kind, std::uint32_t looks) noexcept {
    return static_cast<std::uint32_t>(kind) << 24 | (looks < kLooks ? looks : kLooks);
  }
  constexpr WaitSpanKind kind() const noexcept { return static_cast<WaitSpanKind>(what >> 24); }
  constexpr std::uint32_t looks() const noexcept { return what & kLooks; }
};
static_assert(sizeof(WaitSpan) == 32);

struct WaitLoad {
  std::uint64_t ticks;
  std::uint32_t runnable;    // threads of the machine that ran or were ready
  std::uint32_t processors;  // that the process may use
};
static_assert(sizeof(WaitLoad) == 16);

}  // namespace timeloom::spool
