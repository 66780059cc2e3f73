// The file `samples` of a spool: where the threads of the process used their CPU time.
// docs/formats/spool.md describes its bytes for other readers. The file is mapped and written by
// handlers of signals: it is a head and any number of chunks, each of which belongs to one thread.
//
// Plain values and pure functions, for any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/checksum.hpp"

namespace timeloom::spool {

inline constexpr char kSampleFile[] = "samples";
inline constexpr std::uint64_t kSampleMagic = 0x3153504d53474c01;  // "\x01LGSMPS1"
inline constexpr std::uint16_t kSampleVersion = 4;

// The source of a thread's signals.
enum class SampleClock : std::uint8_t { kEvent, kUserEvent, kTimer };

// The first page of the file; the chunks begin at kSampleHeadSize.
struct SampleHeader {
  std::uint64_t magic;
  std::uint16_t version;
  std::uint16_t reserved;
  std::uint32_t check;                      // sample_header_check()
  std::uint64_t period_ns;                  // of CPU time
  std::atomic<std::uint64_t> lost;          // samples for which there was no space
  std::atomic<std::uint64_t> threads;       // that were sampled
  std::atomic<std::uint64_t> timers;        // of these: by a timer, not by an event
  std::atomic<std::uint64_t> user_events;   // by an event for user space, with a timer beside it
  std::atomic<std::uint64_t> unsampled_ns;  // CPU time of threads whose signals did not come
  std::atomic<std::uint64_t> cut;      // samples without the outermost functions of their stack
  std::atomic<std::uint64_t> failure;  // errno of the first thread that could not be sampled
};
static_assert(sizeof(SampleHeader) == 80);
// The largest page of the machines we run on, so that the chunks can be mapped.
inline constexpr std::size_t kSampleHeadSize = 64 << 10;

inline std::uint32_t sample_header_check(std::uint16_t version, std::uint64_t period_ns) noexcept {
  const std::uint64_t words[] = {kSampleMagic, version, period_ns};
  return checksum(reinterpret_cast<const std::byte*>(words), sizeof words);
}

// `ticks` is stored last: 0 is a record that is not complete, and the end of its chunk.
struct SampleRecord {
  std::atomic<std::uint64_t> ticks;
  std::uint64_t address;    // of the interrupted instruction
  std::uint64_t weight_ns;  // CPU time of the thread since its record before
  std::uint32_t region;     // id of the innermost open region in the process; kNoSampledRegion:
                            // none; with kSampledPlace: a place in the profile of the thread
  std::uint32_t shape;      // sample_shape()
};
static_assert(sizeof(SampleRecord) == 32);
inline constexpr std::uint32_t kNoSampledRegion = UINT32_MAX;
inline constexpr std::uint32_t kSampledPlace = std::uint32_t{1} << 31;
constexpr bool is_sampled_place(std::uint32_t region) noexcept {
  return (region & kSampledPlace) != 0 && region != kNoSampledRegion;
}

// Low byte: the number of records behind this one that hold its stack; 0: it has no stack;
// kSameStack: its stack equals the one before in the chunk. The other 24 bits: the source line; 0:
// not known.
inline constexpr std::uint32_t kSameStack = 0xff;
inline constexpr std::uint32_t kLastSampledLine = (1 << 24) - 1;
constexpr std::uint32_t sample_shape(std::uint32_t slots, std::uint32_t line) noexcept {
  return slots | (line <= kLastSampledLine ? line : 0) << 8;
}
constexpr std::uint32_t slots_of(std::uint32_t shape) noexcept { return shape & 0xff; }
constexpr std::uint32_t line_of(std::uint32_t shape) noexcept { return shape >> 8; }

// The start of a stack; the regions of `count` frames follow, the outermost first. The frames
// before them are the first `shared` ones of the stack before, in the same chunk.
struct SampleStackHead {
  std::uint32_t shared;
  std::uint32_t count;
};

struct SampleChunk {
  std::uint64_t check;  // sample_chunk_check(); 0: the chunk is not used yet
  std::uint32_t location;
  std::uint32_t reserved;
  std::uint64_t unused[2];
};
static_assert(sizeof(SampleChunk) == 32);

constexpr std::uint64_t sample_chunk_check(std::uint32_t location) noexcept {
  return mix(kSampleMagic, location);
}

inline constexpr std::size_t kSampleChunkSize = 4096;
inline constexpr std::size_t kSamplesInChunk = kSampleChunkSize / sizeof(SampleRecord) - 1;

// The most frames of a stack, so that it fits into one chunk.
inline constexpr std::size_t kMostSampledFrames = 1000;
constexpr std::size_t stack_slots(std::size_t frames) noexcept {
  const std::size_t bytes = sizeof(SampleStackHead) + frames * sizeof(std::uint32_t);
  return (bytes + sizeof(SampleRecord) - 1) / sizeof(SampleRecord);
}
static_assert(1 + stack_slots(kMostSampledFrames) <= kSamplesInChunk);
static_assert(kSamplesInChunk < kSameStack);

}  // namespace timeloom::spool
