// The file `gpu` of a spool: the work of the process's GPUs, and the calls that caused it.
// docs/formats/spool.md describes its bytes for other readers. It is the same for all vendors: a
// device has contexts, a context has queues, and work in a queue was caused by the call with the
// same correlation id.
//
// Plain values and pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/checksum.hpp"

namespace timeloom::spool {

inline constexpr char kGpuFile[] = "gpu";
inline constexpr std::uint64_t kGpuMagic = 0x31535550474c5401;  // "\x01TLGPUS1"
inline constexpr std::uint16_t kGpuVersion = 1;
// Of a file that may have packed records.
inline constexpr std::uint16_t kPackedGpuVersion = 2;

struct GpuHeader {
  std::uint64_t magic;
  std::uint16_t version;
  std::uint16_t reserved;
  std::uint32_t check;  // checksum() of the bytes before
};
static_assert(sizeof(GpuHeader) == 16);

enum class GpuBlockKind : std::uint32_t {
  kText = 1,     // GpuId, then the bytes, then zeros up to a multiple of 8
  kPlace = 2,    // GpuPlace
  kLaunch = 3,   // GpuLaunch
  kDevice = 4,   // GpuDevice
  kLost = 5,     // u64: records lost so far, from the start of the file to this block
  kRecords = 6,  // GpuRecord, any number
  kLeft = 7,     // u64 ticks: from then on another tool uses the vendor's interface
  kPacked = 8,   // records, as a RowPacker packs them, then zeros up to a multiple of 8
  kLabel = 9     // GpuLabel
};

// Before each payload, whose size is a multiple of 8.
struct GpuBlock {
  GpuBlockKind kind;
  std::uint32_t size;   // of the payload, in bytes
  std::uint64_t check;  // gpu_check()
};
static_assert(sizeof(GpuBlock) == 16);
inline constexpr std::uint32_t kLargestGpuBlock = 1 << 24;

constexpr std::uint64_t gpu_check(GpuBlockKind kind, std::span<const std::uint64_t> payload) {
  return mix(words_check(payload), static_cast<std::uint64_t>(kind));
}

struct GpuId {
  std::uint32_t id;
  std::uint32_t length;  // of a text, in bytes
};
static_assert(sizeof(GpuId) == 8);

enum class GpuPlaceKind : std::uint32_t { kThread = 0, kQueue = 1, kDevice = 2 };

inline constexpr std::uint32_t kGpuNone = UINT32_MAX;

struct GpuPlace {
  std::uint32_t id;
  GpuPlaceKind kind;
  std::uint64_t thread;  // of a thread: its id in the operating system
  std::uint32_t device;  // also of a queue; kGpuNone: not known
  std::uint32_t context;
  std::uint64_t queue;  // kGpuNone: all queues of the context
};
static_assert(sizeof(GpuPlace) == 32);

// A kernel in the form in which it is started: many records share one.
struct GpuLaunch {
  std::uint32_t id;
  std::uint32_t name;  // text, as in the symbol table of the device's code
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t registers;  // of a thread
  std::uint32_t static_shared;
  std::uint32_t dynamic_shared;
  std::uint32_t graph;  // the graph that the kernel is a node of; 0: none
};
static_assert(sizeof(GpuLaunch) == 48);

struct GpuDevice {
  std::uint32_t id;
  std::uint32_t name;    // text
  std::uint64_t memory;  // bytes
};
static_assert(sizeof(GpuDevice) == 16);

// Of a range: the library or part of the program that has named it, and its category.
struct GpuLabel {
  std::uint32_t id;
  std::uint32_t domain;    // text; kGpuNone: none
  std::uint32_t category;  // the same
  std::uint32_t reserved;
};
static_assert(sizeof(GpuLabel) == 16);

enum class GpuRecordKind : std::uint8_t {
  kCall = 1,      // of the vendor's library, on a thread; value: text
  kKernel = 2,    // value: launch
  kCopy = 3,      // value: bytes, detail: GpuCopy
  kSet = 4,       // value: bytes
  kWait = 5,      // of a thread for a queue; value: event, detail: GpuWait
  kEvent = 6,     // a call puts an event into a queue; value: event, without times
  kAllocate = 7,  // in a context; value: bytes, detail: GpuMemory, end: the address
  kRelease = 8,   // the same
  kRange = 9,  // that the program has named, on a thread; value: text, correlation: a label's id +
               // 1, or 0
  kCounter = 10  // of a device at `start`; value: see GpuCounter, detail: GpuCounter
};

enum class GpuWait : std::uint8_t {
  kOther = 0,
  kForEvent = 1,
  kOfQueue = 2,  // the queue waits, and not the thread
  kForQueue = 3,
  kForContext = 4
};

enum class GpuCounter : std::uint8_t {
  kUse = 0,        // percent of the time in which kernels ran
  kMemoryUse = 1,  // percent of the time in which its memory was read or written
  kMemory = 2,     // bytes in use, by all processes
  kPower = 3       // milliwatts
};
inline constexpr std::size_t kGpuCounters = 4;

enum class GpuMemory : std::uint8_t { kOther = 0, kDevice = 1, kManaged = 2, kHost = 3 };

// Bits 0 to 3 of the detail of a copy. kGpuPageable and kGpuPinned are the bits for memory of the
// host.
enum class GpuCopy : std::uint8_t {
  kOther = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kHostToHost = 4,
  kPeerToPeer = 5
};
inline constexpr std::uint8_t kGpuPageable = 0x10;
inline constexpr std::uint8_t kGpuPinned = 0x20;

struct GpuRecord {
  std::uint64_t start;  // ticks
  std::uint64_t end;    // 0: not known, the work had not ended when the record was delivered
  std::uint32_t place;
  std::uint32_t correlation;
  std::uint64_t what;  // kind in bits 56 to 63, detail in bits 48 to 55, value below

  static constexpr std::uint64_t kValue = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint64_t word(GpuRecordKind kind, std::uint64_t value,
                                      std::uint8_t detail = 0) noexcept {
    const std::uint64_t kept = value < kValue ? value : kValue;
    return static_cast<std::uint64_t>(kind) << 56 | std::uint64_t{detail} << 48 | kept;
  }
  constexpr GpuRecordKind kind() const noexcept { return static_cast<GpuRecordKind>(what >> 56); }
  constexpr std::uint8_t detail() const noexcept { return static_cast<std::uint8_t>(what >> 48); }
  constexpr std::uint64_t value() const noexcept { return what & kValue; }
  constexpr bool is_work() const noexcept {
    return kind() >= GpuRecordKind::kKernel && kind() <= GpuRecordKind::kSet;
  }
  constexpr bool is_of_memory() const noexcept {
    return kind() == GpuRecordKind::kAllocate || kind() == GpuRecordKind::kRelease;
  }
  // The last time in the record; 0: none.
  constexpr std::uint64_t last_ticks() const noexcept {
    return is_of_memory() || end < start ? start : end;
  }
};
static_assert(sizeof(GpuRecord) == 32);

}  // namespace timeloom::spool
