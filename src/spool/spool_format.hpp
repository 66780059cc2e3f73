// The on-disk form of a running measurement of one process: a directory with
//
//   defs   definitions, appended when they are used for the first time
//   log    full segments, as they are or packed, appended by the drain; in a run with a size limit
//          several files, `log`, `log-1`, `log-2` …, of which the oldest may have been removed, and
//          at times `log-copy`, of which readers take no notice
//   ring   the segments that are being written, mapped into the program
//
// All numbers are little-endian. docs/formats/spool.md describes the bytes for readers in
// other languages; the layouts are pinned here. Plain values; any thread.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/checksum.hpp"
#include "core/ending.hpp"
#include "core/life.hpp"

namespace timeloom::spool {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

inline constexpr std::uint16_t kVersion = 3;
// Version 2 has no packed segments; nothing else differs.
inline constexpr std::uint16_t kOldestVersion = 2;
constexpr bool is_known_version(std::uint32_t version) noexcept {
  return version >= kOldestVersion && version <= kVersion;
}
inline constexpr std::uint64_t kDefsMagic = 0x31534645444c5401;  // "\x01TLDEFS1"
inline constexpr std::uint64_t kRingMagic = 0x31474e49524c5401;  // "\x01TLRING1"
inline constexpr std::uint32_t kSegmentMagic = 0x4745534c;       // "LSEG"
inline constexpr std::uint32_t kPackedMagic = 0x4b41504c;        // "LPAK"

inline constexpr char kLogName[] = "log";
inline constexpr char kLogCopyName[] = "log-copy";  // of a file of the log that is being packed

// The head of `defs`, followed by records.
struct DefsHeader {
  std::uint64_t magic;
  std::uint16_t version;
  std::uint16_t clock_source;  // os::ClockSource
  std::uint32_t check;         // checksum() of the 12 bytes before
};
static_assert(sizeof(DefsHeader) == 16);

enum class DefinitionKind : std::uint16_t {
  kProcess = 1,          // u64 pid, str host, str name, str executable, u32 n, n * str argument,
                         // str parent: name of the spool of the process that started it, or
                         // empty; a later one renames
  kClockSync = 2,        // u64 ticks, u64 monotonic ns, u64 realtime ns
  kString = 3,           // u32 id, str text
  kRegion = 4,           // u32 id, str name, str canonical name, str file, str group,
                         // u32 first line, u32 last line, u8 paradigm, u8 role
  kLocation = 5,         // u32 index, u64 thread id, str name; a later one renames
  kParameter = 6,        // u32 id, str name, u8 type
  kMetric = 7,           // u32 id, str name, str unit, str description, u8 type
  kMarker = 8,           // u32 location index, u64 ticks, str text
  kProperty = 9,         // str key, str value
  kEnd = 10,             // u64 lost events, u64 bytes of the last file of the log, u64 ending
                         // (see Ending), u32 number of that file, u64 dropped events;
                         // the measurement was stopped in good order
  kTrack = 11,           // u32 location index, u32 index of the thread whose stream it is in
  kBegin = 12,           // u32 location index, u64 ticks, u64 number it was created under
  kLast = 13,            // u32 location index, u64 ticks: the thread has ended
  kLimit = 15,           // u64 bytes, u8 whether the oldest events may go; of the run (--max-size)
  kSampledMetric = 17,   // as kMetric, then u8 source, u8 mode, u8 whether the base is 2,
                         // u32 exponent (signed), str set: see Metric
  kMetricLocation = 18,  // u32 location index: it has metrics of the process only
  kAddress = 19,         // u32 region id, u32 object id, u64 address in the object's symbol table,
                         // str construct: empty if the region is the function
  kObject = 21,          // u32 id, str path, str build id in hexadecimal digits; without one: u64
                         // size of the file in bytes, i64 ns since 1970 of its last change
  kNativeThreads = 22,  // str name, u64 threads that record nothing and have it, u64 ns of CPU time
                        // of these; a later one replaces
  kKey = 23,            // u64: the key of the spool, a random number; see segment_check()
  kMapping = 26,  // u32 object id, u64 address of its first byte, u64 bytes, u64 bias: addresses
                  // less this are as the symbol table of the object counts, u64 ticks at
                  // which it was seen
  kCommunicator = 32,  // u32 id, u64 identity, u64 identity of the parent (0: none), u8 whether
                       // it has one process only, u32 size, u32 own rank, str name; a later one
                       // renames
  kClockOffset = 33,   // u64 ns of CLOCK_MONOTONIC, i64 ns to be added to get rank 0's clock
  kIoHandle = 20,      // u32 id, str name, str file, u8 interface, u32 parent (all ones: none),
                       // u8 whether it was open before, u8 access, u32 status flags
  kCut = 16,           // u32 location index, u64 ticks: nothing was recorded from then on
};

// Head of one record of `defs`; the payload follows. str is u32 length, bytes.
struct DefinitionHeader {
  std::uint32_t size;  // of the payload, in bytes
  DefinitionKind kind;
  std::uint16_t reserved;
  std::uint32_t check;  // checksum() of the 8 bytes before, then of the payload
};
static_assert(sizeof(DefinitionHeader) == 12);

// The value of `check` in an intact head.
inline std::uint32_t definition_check(const DefinitionHeader& header,
                                      const std::byte* payload) noexcept {
  const auto* head = reinterpret_cast<const std::byte*>(&header);
  return checksum(payload, header.size, checksum(head, offsetof(DefinitionHeader, check)));
}

inline constexpr std::uint32_t kMaxDefinitionSize = 1 << 20;

// The head of `ring`. Segment i lies at kRingHeaderSize + i * segment_size.
struct RingHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t segment_size;  // bytes, with its header
  std::atomic<std::uint32_t> segment_count;
  std::uint32_t check;                     // checksum() of the first 16 bytes
  std::atomic<std::uint64_t> lost_events;  // events not recorded for lack of space
  std::atomic<std::uint64_t> ending;       // to_word(Ending); stored at the last moment
  // Events recorded by any process of the run and dropped by this one, for the size limit.
  std::atomic<std::uint64_t> dropped_events;
  // CpuTimes at the last comparison of the clocks; zeros: there was none.
  std::atomic<std::uint64_t> process_cpu_ns;
  std::atomic<std::uint64_t> other_cpu_ns;
};
// The largest page of the machines we run on, so that segments can be mapped.
inline constexpr std::size_t kRingHeaderSize = 64 << 10;
static_assert(sizeof(RingHeader) == 64);

// The clocks of a thread at one moment.
struct ClockReading {
  std::atomic<std::uint64_t> ticks;  // stored last, and 0 while the others change: no reading
  std::atomic<std::uint64_t> wall;   // nanoseconds of CLOCK_MONOTONIC
  std::atomic<std::uint64_t> cpu;    // nanoseconds in which the thread ran
};

// The clocks of a thread whose waiting is measured: from them a reader knows how long a thread of a
// killed process has waited since its last event. They follow the head of `ring`; zeros: unused.
struct ThreadClocks {
  std::atomic<std::uint32_t> thread;  // 1 + index of its location; 0: of no thread
  std::uint32_t reserved;
  ClockReading at_event;  // at the last event up to which all waiting of the thread is recorded
  ClockReading seen;      // the drain's last reading
  std::uint64_t unused;
};
static_assert(sizeof(ThreadClocks) == 64);
inline constexpr std::size_t kFirstThreadClocks = 64;  // the offset in `ring`
inline constexpr std::size_t kMostThreadClocks =
    (kRingHeaderSize - kFirstThreadClocks) / sizeof(ThreadClocks);

// kFree -> kActive (a thread writes) -> kFull (waits for the drain) ->
// kDrained (in the log; its records are being zeroed) -> kFree.
enum class SegmentState : std::uint32_t { kFree = 0, kActive = 1, kFull = 2, kDrained = 3 };

// Head of a segment in the ring and in the log. Records follow: in the ring up to the first
// zero word, in the log `size` bytes.
struct SegmentHeader {
  std::uint32_t magic;
  std::atomic<SegmentState> state;
  std::uint32_t location;  // index of the thread in this process
  std::uint32_t size;      // bytes of records; in the ring set when full
  std::uint64_t sequence;  // 0, 1, 2 … within the location
  std::uint64_t base;      // ticks from which the first records count their times
  std::uint64_t check;     // segment_check() of location, sequence, base and the spool's key
  std::uint64_t records;   // if there is a seal: records_check() of the records
  std::uint64_t seal;      // in the log, and in a ring that stays: segment_seal() of all other
                           // fields but magic and state; else 0
  std::uint64_t events;    // lower half: number in the records, in a log whose oldest may be
                           // dropped, else 0; upper half: tag_of() the key of the spool
};
static_assert(sizeof(SegmentHeader) == 64);
static_assert(std::is_standard_layout_v<SegmentHeader>);
static_assert(std::atomic<SegmentState>::is_always_lock_free);

constexpr std::uint64_t tag_of(std::uint64_t key) noexcept { return key << 32 >> 32; }
constexpr std::uint64_t tag_in(std::uint64_t events) noexcept { return events >> 32; }
constexpr std::uint64_t number_in(std::uint64_t events) noexcept { return events << 32 >> 32; }
constexpr std::uint64_t with_tag(std::uint64_t number, std::uint64_t tag) noexcept {
  return number_in(number) | tag << 32;
}

// Over the fields that do not change while a segment is active. The key of the spool (0 in
// spools without one) tells its segments from segments that somebody has copied here from another
// spool: these have another tag as well, while a damaged head has one of both.
constexpr std::uint64_t segment_check(std::uint32_t location, std::uint64_t sequence,
                                      std::uint64_t base, std::uint64_t key = 0) noexcept {
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ key;
  for (const std::uint64_t part : {std::uint64_t{location}, sequence, base}) {
    hash = mix(hash, part);
  }
  return hash;
}

// Covers the fields of segment_check() as well, since it includes that checksum.
constexpr std::uint64_t segment_seal(std::uint64_t check, std::uint32_t size,
                                     std::uint64_t records) noexcept {
  return mix(mix(check, size), records);
}

// Over the records of a segment in the log.
constexpr std::uint64_t records_check(std::span<const std::uint64_t> words) noexcept {
  return words_check(words);
}

// Head of a packed segment, which lies only in the log. The packed records follow
// (packed_segment.hpp), and zeros up to a multiple of eight bytes; the fields are as in the head of
// the segment.
struct PackedHeader {
  std::uint32_t magic;   // kPackedMagic
  std::uint32_t stored;  // bytes of the packed records
  std::uint32_t location;
  std::uint32_t size;  // bytes of the records when they are unpacked
  std::uint64_t sequence;
  std::uint64_t base;
  std::uint64_t check;
  std::uint64_t records;  // of the unpacked records
  std::uint64_t seal;     // packed_seal()
  std::uint64_t events;
};
static_assert(sizeof(PackedHeader) == sizeof(SegmentHeader));

// The bytes that packed records take in the file, with the zeros behind them.
constexpr std::uint64_t bytes_in_log(std::uint32_t stored) noexcept {
  return (std::uint64_t{stored} + 7) / 8 * 8;
}

constexpr std::uint64_t packed_seal(std::uint64_t check, std::uint32_t size, std::uint64_t records,
                                    std::uint32_t stored) noexcept {
  return mix(segment_seal(check, size, records), stored);
}

// `words`: where the records begin.
inline std::span<const std::uint64_t> records_of(const SegmentHeader& header,
                                                 const std::uint64_t* words) noexcept {
  return {words, header.size / sizeof(std::uint64_t)};
}

inline void seal(SegmentHeader& header, const std::uint64_t* words) noexcept {
  header.records = records_check(records_of(header, words));
  header.seal = segment_seal(header.check, header.size, header.records);
}

inline constexpr std::uint32_t kMinSegmentSize = 4096;
inline constexpr std::uint32_t kMaxSegmentSize = 16 << 20;

}  // namespace timeloom::spool
