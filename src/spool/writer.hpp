// Writes the spool of one process.
//
// Threads take a segment, append records to it with plain stores (that is the
// event path, in src/record), and hand it back when it is full. A background
// thread moves full segments to the log. When it falls behind, the thread that
// finds no free segment moves one itself, so nothing waits and nothing is lost.
// When all segments are in use by threads the ring grows. Handing segments out
// and back allocates nothing.
//
// The segments that the ring begins with have all their space at once. Those that it
// grows by are holes of the file, which get space as they are filled: a page, then four
// times as much, up to the whole. Threads begin with one of these, so that a thread that
// records little takes little, and go on with those that are whole.
//
// Thread safety: every function may be called from any thread, except create,
// close, pause_drain and resume_drain, which one thread calls. Nothing but create throws;
// after the first failed write, and at the size limit of the run unless the
// newest events are to be kept, the segments that are full stay in the ring and
// acquire() returns nullptr when the last is used up; error() and at_limit() say why.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/cpu_times.hpp"
#include "core/definitions.hpp"
#include "core/known_directory.hpp"
#include "os/clock.hpp"
#include "os/file.hpp"
#include "os/thread.hpp"
#include "spool/clock_watch.hpp"
#include "spool/size_limit.hpp"
#include "spool/spool_format.hpp"

namespace timeloom::spool {

// A segment in the hands of one thread, or on one of the writer's lists.
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
  // Words of records that there is space for; Writer::extend() makes more of them.
  std::size_t room() const noexcept {
    return (space_ - sizeof(SegmentHeader)) / sizeof(std::uint64_t);
  }

 private:
  friend class SegmentList;
  friend class Writer;
  std::byte* address_;
  std::uint64_t offset_;     // in the file
  std::uint32_t space_;      // bytes from the begin on that have space; 0: none yet
  Segment* next_ = nullptr;  // on a list
};

// A list through the segments themselves.
class SegmentList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void push_front(Segment* segment) noexcept;
  void push_back(Segment* segment) noexcept;
  Segment* pop_front() noexcept;  // nullptr: empty

 private:
  Segment* first_ = nullptr;
  Segment* last_ = nullptr;
};

struct WriterOptions {
  std::uint32_t segment_size = 256 << 10;  // bytes; a multiple of the page size, at most 16 MiB
  std::uint64_t ring_size = 4 << 20;       // bytes at start
  std::uint64_t ring_limit = std::uint64_t{4} << 30;  // bytes that the ring may grow to
  bool drain_at_once = true;  // start the drain now, not with the second segment of a thread
  SizeLimit size_limit;
  std::vector<std::string> secrets;  // masked in names and texts of the program
};

class Writer {
 public:
  // Creates `directory` and starts the drain. `above`: what its parent is, if that is known;
  // another one at its place is an error. All files of the spool are made, looked for and removed
  // in the directories that were met here: see core/known_directory.hpp. Throws Error.
  static std::unique_ptr<Writer> create(const std::filesystem::path& directory,
                                        const WriterOptions& options, os::DirectoryId above = {});
  ~Writer();

  // Definitions made between the two calls are written together by the second.
  void hold_definitions() noexcept;
  void release_definitions() noexcept;

  // Definitions; each has reached the file when the call returns. One that
  // could not be written sets error(); its events remain readable under a
  // name made of the id.
  // `parent`: the name of the spool of the process that started this one, or empty.
  void define_process(const LocationGroup& process, const std::string& parent) noexcept;
  void define_region(RegionId id, const Region& region) noexcept;
  void define_location(std::uint32_t index, std::uint64_t thread_id,
                       const std::string& name) noexcept;
  // The location is a track: its events are in the stream of the thread `owner`.
  void define_track(std::uint32_t index, std::uint32_t owner) noexcept;
  // The location, a track, has metrics of the process only.
  void define_metric_location(std::uint32_t index) noexcept;
  // When the location began, and the number that it was created under; when it ended.
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
  void define_clock_sync(const os::ClockSync& sync) noexcept;
  // There was no room for events of the location from `ticks` on.
  void define_cut(std::uint32_t location, std::uint64_t ticks) noexcept;

  // A zeroed segment for the location, or nullptr when there is no space left.
  Segment* acquire(std::uint32_t location, std::uint64_t sequence, std::uint64_t base) noexcept;
  // Makes room for more records in a segment that the caller has acquired; false: it has all
  // that a segment may have, or there is no space left.
  bool extend(Segment* segment) noexcept;
  // Hands a segment with `words` records words back.
  void retire(Segment* segment, std::size_t words) noexcept;
  // Whether the oldest segments may be dropped, so that a stream may begin with any.
  bool keeps_newest() const noexcept {
    return options_.size_limit.bytes != 0 && options_.size_limit.at_limit == AtLimit::kKeepNewest;
  }

  // Whether events beyond the size limit are to be folded into profiles.
  bool folds_at_limit() const noexcept {
    return at_limit() && options_.size_limit.at_limit == AtLimit::kFold;
  }

  const KnownDirectory& directory() const noexcept { return directory_; }
  void count_lost(std::uint64_t events) noexcept;
  std::uint64_t lost() const noexcept;
  // Events that this process has dropped, its own and those of others, for newer ones.
  std::uint64_t dropped() const noexcept;
  // Whether recording has ended at the size limit.
  bool at_limit() const noexcept { return at_limit_.load(std::memory_order_relaxed); }
  // The first errno value a write failed with; 0: none.
  int error() const noexcept { return error_.load(std::memory_order_relaxed); }
  // Bytes of records written so far, in the log and (retired) in the ring.
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  // CPU time that the drain and the handing out of segments took; of the drain, when it has ended.
  std::uint64_t cpu_ns() const noexcept { return cpu_ns_.load(std::memory_order_relaxed); }

  // Drains what was retired, writes the end record, stops the drain. No thread
  // holds a segment any more. The ring is removed when all of it is in the log.
  // error() is ENOENT when the spool has been removed.
  void close(Ending ending = {}) noexcept;

  // The clocks of threads, which the drain looks at whenever it compares the clocks.
  ClockWatch& clock_watch() noexcept { return clock_watch_; }

  // Where to note what ends the process; one store, also of a signal handler.
  std::atomic<std::uint64_t>& ending() const noexcept { return ring_header().ending; }

  // Where a process that is killed leaves the times that it has noted last.
  void note(const CpuTimes& times) noexcept;
  // Sets the function that the drain calls whenever it compares the clocks.
  void on_comparison(void (*function)() noexcept) noexcept { on_comparison_ = function; }
  // CPU time of the drain, up to its last pause.
  std::uint64_t drain_cpu_ns() const noexcept {
    return drain_cpu_ns_.load(std::memory_order_relaxed);
  }

  // Ends our thread: the program is about to fork.
  void pause_drain() noexcept;
  // The main thread has ended, and the process ends with its last thread, which ours is not to be:
  // it ends when it is the only one left.
  void expect_last_thread() noexcept;
  // Starts it if it does not run. Until then the clocks are not compared, and the process is silent
  // for other machines (core/heartbeat.hpp).
  void resume_drain() noexcept;

  // REQUIRES: closed. The file of the definitions, for add_property().
  os::File take_definitions() noexcept { return std::move(defs_); }

  // In the child of a fork: forgets everything and closes the files, which are the parent's.
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
  void put_back(Segment* segment) noexcept;
  bool stuck() const noexcept { return error() != 0 || at_limit(); }
  void append(DefinitionKind kind, std::span<const std::byte> payload) noexcept;
  void append(std::span<const std::byte> record) noexcept;
  void define_limit() noexcept;
  void define_end(Ending ending) noexcept;
  void write_definitions(std::span<const std::byte> records) noexcept;
  int start_drain() noexcept;  // an errno value
  void stop_drain() noexcept;
  bool removed() const noexcept;
  void drain_loop() noexcept;
  Segment* drain_one() noexcept;
  bool append_to_log(SegmentHeader& header, const std::uint64_t* words) noexcept;
  bool make_room_in_log(std::uint64_t bytes) noexcept;
  bool space_for(std::uint64_t bytes) noexcept;
  bool begin_log_file() noexcept;
  void stop_at_limit() noexcept;
  void fail(int error) noexcept;
  RingHeader& ring_header() const noexcept;

  const KnownDirectory spools_;  // with those of the other processes
  const KnownDirectory directory_;
  const WriterOptions options_;
  os::File life_;  // of the drain, from its first beat on
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
  bool closing_ = false;  // what is in the ring goes to the log, where it takes no more space

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::vector<os::Mapping> blocks_;
  std::deque<Segment> segments_;  // stable addresses
  SegmentList free_;              // whole
  SegmentList partial_;           // free, too, and without all their space
  SegmentList full_;
  bool stopping_ = false;
  bool expects_last_thread_ = false;
  bool closed_ = false;

  std::atomic<int> error_ = 0;
  std::atomic<bool> at_limit_ = false;
  std::atomic<bool> used_up_ = false;  // stuck(), and no segment is free
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> cpu_ns_ = 0;
  std::atomic<std::uint64_t> drain_cpu_ns_ = 0;
  std::atomic<void (*)() noexcept> on_comparison_ = nullptr;
  os::HelperThread drain_thread_;
};

// Adds a property to the definitions of a closed spool. False: the write failed, and the
// spool is unchanged.
bool add_property(os::File& definitions, const std::string& key, const std::string& value) noexcept;

}  // namespace timeloom::spool
