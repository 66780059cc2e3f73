// Writes the spool of one process.
//
// A thread acquires a segment, appends records to it with plain stores (the event path, in
// src/record), and retires it when it is full. A background thread, the drain, moves full
// segments to the log. When the drain falls behind, the thread that finds no free segment
// moves one itself, so no thread waits and nothing is lost. When threads use all segments,
// the ring grows. Acquiring and retiring segments allocates nothing.
//
// The drain may pack full segments (early_packing.hpp). A thread that needs one meanwhile takes it
// from the drain and moves it as it is, and while half of the ring is full, the drain packs none:
// no thread waits longer than without packing.
//
// The first segments of the ring have all their disk space at once. Segments added later are
// holes in the file, which get space as they are filled: a page, then four times as much, up
// to the whole. A thread starts with such a segment, so that a thread that records little
// takes little space, and goes on with whole ones.
//
// Thread safety: every function may be called from any thread, except create, close,
// pause_drain and resume_drain, which one thread calls. Nothing but create throws. After the
// first failed write, and at the size limit of the run (unless the newest events are to be
// kept), full segments stay in the ring and acquire() returns nullptr when the last one is
// used up; error() and at_limit() give the reason.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/code_object.hpp"
#include "core/cpu_times.hpp"
#include "core/definitions.hpp"
#include "core/known_directory.hpp"
#include "os/clock.hpp"
#include "os/file.hpp"
#include "os/thread.hpp"
#include "spool/clock_watch.hpp"
#include "spool/early_packing.hpp"
#include "spool/log_packing.hpp"
#include "spool/size_limit.hpp"
#include "spool/spool_format.hpp"

namespace timeloom::spool {

// A segment, which is used by one thread or is on one of the writer's lists.
class Segment {
 public:
  Segment(std::byte* address, std::uint64_t offset, std::uint32_t space) noexcept
      : address_(address), offset_(offset), space_(space) {}
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  SegmentHeader& header() const noexcept { return *reinterpret_cast<SegmentHeader*>(address_); }
  std::uint64_t* words() const noexcept {
    return reinterpret_cast<std::uint64_t*>(address_ + sizeof(SegmentHeader));
  }
  // The number of words for records that have space; Writer::extend() adds more.
  std::size_t room() const noexcept {
    return (space_ - sizeof(SegmentHeader)) / sizeof(std::uint64_t);
  }

 private:
  friend class SegmentList;
  friend class Writer;
  std::byte* address_;
  std::uint64_t offset_;     // in the file
  std::uint32_t space_;      // bytes from the start that have disk space; 0: none
  Segment* next_ = nullptr;  // on a list
};

// An intrusive list of segments.
class SegmentList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  void push_front(Segment* segment) noexcept;
  void push_back(Segment* segment) noexcept;
  Segment* pop_front() noexcept;  // nullptr: empty

 private:
  Segment* first_ = nullptr;
  Segment* last_ = nullptr;
  std::size_t size_ = 0;
};

struct WriterOptions {
  std::uint32_t segment_size = 256 << 10;  // bytes; a multiple of the page size, at most 16 MiB
  std::uint64_t ring_size = 4 << 20;       // bytes at start
  std::uint64_t ring_limit = std::uint64_t{4} << 30;  // bytes that the ring may grow to
  bool drain_at_once = true;  // start the drain now, not with the second segment of a thread
  SizeLimit size_limit;
  PackEarly pack_early = PackEarly::kNever;
  WaitOptions waits;
  std::vector<std::string> secrets;  // masked in names and texts of the program
};

class Writer {
 public:
  // Creates `directory` and starts the drain. `above`: the identity of the parent directory, if it
  // is known; another directory in its place is an error. From then on all files of the spool are
  // made, found and removed in these same directories: see core/known_directory.hpp. Throws Error.
  static std::unique_ptr<Writer> create(const std::filesystem::path& directory,
                                        const WriterOptions& options, os::DirectoryId above = {});
  ~Writer();

  // Definitions made between the two calls are written together by the second.
  void hold_definitions() noexcept;
  void release_definitions() noexcept;

  // Definitions; each is in the file when the call returns. One that could not be written
  // sets error(); its events remain readable under a name made from the id.
  // `parent`: the name of the spool of the process that started this one, or empty.
  void define_process(const LocationGroup& process, const std::string& parent) noexcept;
  void define_region(RegionId id, const Region& region) noexcept;
  // The object comes before the address of its first region, which comes after the region.
  void define_object(std::uint32_t id, const CodeObject& object) noexcept;
  void define_address(RegionId id, const CodeAddress& address) noexcept;
  // A part of the object, which comes before, was mapped.
  void define_mapping(const ObjectMapping& mapping) noexcept;
  void define_location(std::uint32_t index, std::uint64_t thread_id,
                       const std::string& name) noexcept;
  // The location is a track: its events are in the stream of the thread `owner`.
  void define_track(std::uint32_t index, std::uint32_t owner) noexcept;
  // The location, a track, has metrics of the process only.
  void define_metric_location(std::uint32_t index) noexcept;
  // The start of the location, with the number in its creator's kThreadCreate; its end.
  void define_begin(std::uint32_t index, std::uint64_t ticks, std::uint64_t number) noexcept;
  void define_last(std::uint32_t index, std::uint64_t ticks) noexcept;
  void define_string(StringId id, const std::string& text) noexcept;
  void define_parameter(ParameterId id, const Parameter& parameter) noexcept;
  void define_metric(MetricId id, const Metric& metric) noexcept;
  void define_communicator(std::uint32_t id, const LocalCommunicator& communicator) noexcept;
  // To get the clock of rank 0, `offset_ns` is added to CLOCK_MONOTONIC at that time.
  void define_clock_offset(std::uint64_t monotonic_ns, std::int64_t offset_ns) noexcept;
  void define_io_handle(IoHandleId id, const IoHandle& handle) noexcept;
  void define_marker(std::uint32_t location, std::uint64_t ticks, const std::string& text) noexcept;
  void define_property(const std::string& key, const std::string& value) noexcept;
  // The same without the heap, for short texts; nothing is written if they are longer.
  void define_short_property(std::string_view key, std::string_view value) noexcept;
  void define_clock_sync(const os::ClockSync& sync) noexcept;
  // Replaces the sum that was defined for the name before.
  void define_native_threads(const std::string& name, const NativeThreads& threads) noexcept;
  // There was no space for events of the location from `ticks` on.
  void define_cut(std::uint32_t location, std::uint64_t ticks) noexcept;

  // A zeroed segment for the location; nullptr: there is no space left.
  Segment* acquire(std::uint32_t location, std::uint64_t sequence, std::uint64_t base) noexcept;
  // Adds disk space to a segment that the caller has acquired; false: the segment has its full
  // size, or there is no space left.
  bool extend(Segment* segment) noexcept;
  // Returns a segment with `words` words of records.
  void retire(Segment* segment, std::size_t words) noexcept;
  // Whether the oldest segments may be dropped, so that a stream may start with any segment.
  bool keeps_newest() const noexcept {
    return options_.size_limit.bytes != 0 && options_.size_limit.at_limit == AtLimit::kKeepNewest;
  }

  // Whether events beyond the size limit are to be added to profiles only.
  bool aggregates_at_limit() const noexcept {
    return at_limit() && options_.size_limit.at_limit == AtLimit::kAggregate;
  }

  const KnownDirectory& directory() const noexcept { return directory_; }
  void count_lost(std::uint64_t events) noexcept;
  std::uint64_t lost() const noexcept;
  // The number of events, of all processes, that this one has dropped for newer ones.
  std::uint64_t dropped() const noexcept;
  // The size limit of the run; 0: none.
  std::uint64_t most_bytes() const noexcept { return options_.size_limit.bytes; }
  // Whether records are packed from the start on, in all files of the spool.
  bool packs_early() const noexcept {
    return packs_from_start(options_.pack_early, options_.size_limit.bytes != 0);
  }
  // Whether recording has ended at it.
  bool at_limit() const noexcept { return at_limit_.load(std::memory_order_relaxed); }
  // The errno value of the first failed write; 0: none failed.
  int error() const noexcept { return error_.load(std::memory_order_relaxed); }
  // Bytes of records written so far, in the log and (retired) in the ring.
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  // The part of them that the drain has packed, and the bytes that it takes in the log.
  std::uint64_t packed_records() const noexcept {
    return packed_records_.load(std::memory_order_relaxed);
  }
  std::uint64_t packed_bytes() const noexcept {
    return packed_bytes_.load(std::memory_order_relaxed);
  }
  // The bytes of records as they are stored.
  std::uint64_t stored_bytes() const noexcept {
    return bytes() - std::min(bytes(), packed_records()) + packed_bytes();
  }
  // The CPU time of acquiring segments and, once it has ended, of the drain.
  std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }

  // Drains the retired segments, writes the end record, stops the drain. REQUIRES: no
  // thread holds a segment any more. The ring is removed if all of it is in the log.
  // error() is ENOENT if the spool has been removed.
  void close(Ending ending = {}) noexcept;

  // The clocks of threads, which the drain reads whenever it compares the clocks.
  ClockWatch& clock_watch() noexcept { return clock_watch_; }

  // The place for the ending of the process, stored at once, even by a signal handler.
  std::atomic<std::uint64_t>& ending() const noexcept { return ring_header().ending; }

  // Stores the times in the mapped ring, so that they survive a kill.
  void note(const CpuTimes& times) noexcept;
  // Sets the function that the drain calls whenever it compares the clocks.
  void on_comparison(void (*function)() noexcept) noexcept { on_comparison_ = function; }
  // CPU time of the drain, up to its last pause.
  std::uint64_t drain_cpu_ns() const noexcept {
    return drain_cpu_ns_.load(std::memory_order_relaxed);
  }

  // Ends the drain's thread, since the program is about to fork.
  void pause_drain() noexcept;
  // To be called when the main thread has ended: the process ends with its last thread, so the
  // drain's thread ends when it is the only one left.
  void expect_last_thread() noexcept;
  // Starts the drain's thread if it does not run. Until then the clocks are not compared, and other
  // machines get no heartbeat (core/heartbeat.hpp).
  void resume_drain() noexcept;

  // The file of the definitions, for add_property(). REQUIRES: the writer is closed.
  os::File take_definitions() noexcept { return std::move(defs_); }

  // To be called in the child of a fork: closes the files, which belong to the parent.
  void abandon() noexcept;

 private:
  Writer(KnownDirectory spools, KnownDirectory directory, const WriterOptions& options);
  void open_files();
  void write_heads();
  void remove_files() noexcept;
  std::string name_of_spool() const;
  // With mutex_ held; those with an int return an errno value.
  int add_block(std::uint64_t bytes, bool whole) noexcept;
  void add_segments(os::Mapping block, std::uint64_t offset, bool whole);
  bool is_small() const noexcept;
  int grow() noexcept;
  int give_space(Segment& segment) noexcept;
  void set_free(Segment* segment) noexcept;
  Segment* find_partial(int* error) noexcept;
  Segment* find_segment(bool idle) noexcept;  // without it
  Segment* take_full() noexcept;
  Segment* take_to_pack() noexcept;
  bool end_packing(const Segment* segment) noexcept;
  bool append_packed(Segment* segment, std::span<const std::byte> packed) noexcept;
  Segment* drain_packed() noexcept;
  void pack_log() noexcept;
  // Whether the limit is reached, and packing the log will make space.
  bool awaits_packing() const noexcept {
    return awaits_packing_.load(std::memory_order_relaxed) && log_packing_.has_work();
  }
  Segment* empty(Segment* segment) noexcept;
  void put_back(Segment* segment) noexcept;
  // With mutex_ held: whether the drain should rather pack segments of the log.
  bool has_time() const noexcept { return full_.empty() || awaits_packing(); }
  bool has_full() const noexcept { return !full_.empty() || packing_ != nullptr; }  // with mutex_
  bool stuck() const noexcept { return error() != 0 || at_limit(); }
  void append(DefinitionKind kind, std::span<const std::byte> payload) noexcept;
  void append(std::span<const std::byte> record) noexcept;
  void define_key() noexcept;
  void define_limit() noexcept;
  void define_end(Ending ending) noexcept;
  void write_definitions(std::span<const std::byte> records) noexcept;
  int start_drain() noexcept;  // an errno value
  void stop_drain() noexcept;
  bool removed() const noexcept;
  void drain_loop() noexcept;
  Segment* drain_one() noexcept;
  bool append_to_log(SegmentHeader& header, const std::uint64_t* words) noexcept;
  bool append_to_log(std::span<const std::byte> bytes) noexcept;
  bool make_room_in_log(std::uint64_t bytes) noexcept;
  bool space_for(std::uint64_t bytes, bool may_drop = true) noexcept;
  std::uint64_t ring_reserve() const noexcept;
  // The bytes by which the ring of a run with a size limit grows: most of it is for the log.
  std::uint64_t growth_in_limit() const noexcept {
    constexpr std::uint64_t kGrowth = 4 << 20;
    return std::min(kGrowth, options_.size_limit.bytes / 16);
  }
  bool begin_log_file() noexcept;
  void stop_at_limit() noexcept;
  void fail(int error) noexcept;
  RingHeader& ring_header() const noexcept;

  const KnownDirectory spools_;  // the directory of all processes' spools
  const KnownDirectory directory_;
  const WriterOptions options_;
  const std::uint64_t key_;  // in the checks of segments
  os::File life_;            // of the drain, from its first heartbeat on
  os::File defs_;
  os::File log_;
  os::File ring_;
  os::Mapping ring_header_;
  ClockWatch clock_watch_;

  std::mutex defs_mutex_;
  std::uint64_t defs_end_ = 0;
  bool holding_ = false;
  std::vector<std::byte> held_;

  std::mutex log_mutex_;  // taken before mutex_
  std::uint64_t log_end_ = 0;
  std::uint32_t log_number_ = 0;
  std::uint64_t log_file_size_ = 0;
  std::uint64_t written_ = 0;  // to all files of the log
  bool has_raw_ = false;       // the file has segments that are to be packed later
  bool closing_ = false;       // moving the ring's segments to the log takes no more space now

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::vector<os::Mapping> blocks_;
  std::deque<Segment> segments_;  // stable addresses
  SegmentList free_;              // whole
  SegmentList partial_;           // free, too, and without all their space
  SegmentList full_;
  Segment* packing_ = nullptr;  // full, too, before the others: the drain packs a copy of it
  bool stopping_ = false;
  bool expects_last_thread_ = false;
  bool closed_ = false;

  std::atomic<int> error_ = 0;
  std::atomic<bool> at_limit_ = false;
  std::atomic<bool> used_up_ = false;  // stuck(), and no segment is free
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> packed_records_ = 0;
  std::atomic<std::uint64_t> packed_bytes_ = 0;
  std::atomic<std::uint64_t> cpu_ns_ = 0;
  std::atomic<std::uint64_t> drain_cpu_ns_ = 0;
  std::atomic<void (*)() noexcept> on_comparison_ = nullptr;
  EarlyPacking early_packing_;  // of the drain
  LogPacking log_packing_{directory_};
  std::atomic<bool> awaits_packing_ = false;
  std::atomic<bool> gives_up_waiting_ = false;  // the ring is used up: older events are to go
  os::HelperThread drain_thread_;
};

// Adds a property to the definitions of a closed spool. False: the write failed, and the
// spool is unchanged.
bool add_property(os::File& definitions, const std::string& key, const std::string& value) noexcept;

}  // namespace timeloom::spool
