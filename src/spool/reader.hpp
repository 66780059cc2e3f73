// Reads the spool of one process, even if the process was killed or the spool is damaged.
//
// Intact parts are read, damaged ones are counted in Damage. open() throws Error only for a
// directory without a spool, or with a spool of an unknown version.
//
// Thread safety: after open() everything but catch_up() is const; each LocationReader is
// used by one thread, different ones may be used at the same time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/code_object.hpp"
#include "core/cpu_times.hpp"
#include "core/definitions.hpp"
#include "core/event.hpp"
#include "os/clock.hpp"
#include "os/file.hpp"
#include "spool/packed_segment.hpp"
#include "spool/segment_decoder.hpp"
#include "spool/spool_directory.hpp"
#include "spool/spool_format.hpp"

namespace timeloom::spool {

// The definitions of a spool, with the process's own ids.
struct ProcessDefinitions {
  os::ClockSource clock_source = os::ClockSource::kMonotonic;
  LocationGroup process;
  std::string parent;  // name of the spool of the process that started this one; or empty
  std::vector<os::ClockSync> clock_syncs;  // in order of time; may be empty
  std::map<std::uint32_t, Region> regions;
  std::map<std::uint32_t, CodeObject> objects;
  std::map<std::uint32_t, CodeAddress> addresses;  // by id of the region
  std::vector<ObjectMapping> mappings;             // in order of time
  std::map<std::uint32_t, std::string> strings;
  std::map<std::uint32_t, Parameter> parameters;
  std::map<std::uint32_t, Metric> metrics;
  std::map<std::uint32_t, LocalCommunicator> communicators;
  struct ClockOffset {
    std::uint64_t monotonic_ns = 0;
    std::int64_t offset_ns = 0;  // to be added for the clock of rank 0
  };
  std::vector<ClockOffset> clock_offsets;  // in order of time
  std::map<std::uint32_t, IoHandle> io_handles;
  struct Thread {
    std::string name;
    std::uint64_t thread_id = 0;
    std::optional<std::uint32_t> owner{};  // of a track: the thread whose stream it is in
    std::uint64_t begin = 0;               // ticks; 0: not known
    std::uint64_t number = 0;              // in the kThreadCreate of its creator; 0: none
    std::uint64_t last = 0;                // ticks at its end; 0: not known
    bool has_metrics = false;              // holds metrics of the process, and nothing else
  };
  std::map<std::uint32_t, Thread> threads;  // by index of the location
  struct Mark {
    std::uint32_t thread = 0;
    std::uint64_t ticks = 0;
    std::string text;
  };
  std::vector<Mark> markers;
  std::optional<std::uint64_t> key;  // of the segments; none: an earlier spool, or it is lost
  bool may_miss_begin = false;       // at its size limit the run keeps the newest events
  std::map<std::uint32_t, std::uint64_t> cuts;  // ticks from which on a thread had no space for
                                                // events
  std::map<std::string, std::string> properties;
  bool ended = false;  // the measurement was stopped normally
  Ending ending;       // as far as known, even if the process was killed
  std::uint64_t lost_events = 0;
  std::uint64_t dropped_events = 0;  // dropped by this process, from its own and others' files
  CpuTimes cpu;                      // of a process that has not ended the measurement
  NativeThreadsByName native_threads;
  std::uint64_t log_size = 0;  // bytes of the last file of the log when it ended
  std::uint32_t last_log = 0;  // the number of that file
};

// The last readings of the clocks of a thread that may have recorded nothing for a while; see
// ThreadClocks. Ticks of 0: there is no reading.
struct LastClocks {
  struct Reading {
    std::uint64_t ticks = 0, wall = 0, cpu = 0;
  };
  Reading at_event, seen;
};

struct Damage {
  std::uint64_t definitions = 0;       // damaged places in `defs`
  std::uint64_t segments = 0;          // damaged places in `log` and `ring`
  std::uint64_t missing_segments = 0;  // gaps in the sequence of a location
  bool any() const noexcept { return definitions + segments + missing_segments > 0; }
};

// The place of a segment's records.
struct SegmentRef {
  enum class Where : std::uint8_t { kLog, kRing };
  std::uint64_t sequence = 0;
  std::uint64_t base = 0;
  std::uint64_t offset = 0;  // of the first record in the file
  std::uint64_t check = 0;   // if it is sealed: records_check() of the records
  std::uint32_t size = 0;    // bytes; in the ring up to the end of the segment
  std::uint32_t stored = 0;  // bytes in the file, if they are packed; else 0
  std::uint32_t full = 0;    // in the ring: bytes of records if it was full, else 0
  std::uint32_t file = 0;    // in the log: number of the file
  std::uint64_t events = 0;  // number in the records; in a log whose oldest events may be dropped
  Where where = Where::kLog;
  bool sealed = true;  // always true in the log
  // A copy of the records, if a running process may use the place in the ring again.
  std::vector<std::uint64_t> words{};
};

// Whether there is a log, or a part of one.
bool has_log(const SpoolDirectory& directory);
// Whether the process was killed before it had written the head of its definitions, so that nothing
// was recorded. False if that is not certain.
bool was_killed_at_begin(const SpoolDirectory& directory);

class LocationReader;

// Open files of a log by their numbers.
using LogFiles = std::map<std::uint32_t, os::File>;

class Reader {
 public:
  // Opens the spool in `directory`. Without a log, because its events lie elsewhere, it has no
  // events, and the log is not missing. Throws Error.
  static std::unique_ptr<Reader> open(const SpoolDirectory& directory, bool with_log = true);

  // Whether the process was still measured when the spool was opened; its events up to then are
  // read.
  Alive alive() const noexcept { return alive_; }

  const ProcessDefinitions& definitions() const noexcept { return definitions_; }
  // Reads the definitions that a process that may still run has added since the spool was opened. A
  // caller that has read another file of the spool in the meantime needs them. Throws Error.
  void catch_up();
  const Damage& damage() const noexcept { return damage_; }
  // Sound segments of other spools that lie in the log, and are left out.
  std::uint64_t foreign_segments() const noexcept { return foreign_segments_; }
  // Whether the oldest events of the process were dropped at the size limit of the run, or may be
  // dropped before they are read, since it still runs.
  bool misses_begin() const noexcept;
  // Whether all definitions and records that the process made are present, as far as that is known
  // without reading the records.
  bool complete() const noexcept;
  // The indices of the threads that have records or a definition.
  std::vector<std::uint32_t> locations() const;
  // Bytes of records of a location, an upper limit of 8 times its events.
  std::uint64_t bytes(std::uint32_t location) const;
  // Bytes of records that are packed in the log, and the bytes that they take there.
  struct Packed {
    std::uint64_t records = 0, stored = 0;
  };
  Packed packed() const noexcept;
  // The ticks of the first event of all locations; none: there are no events.
  std::optional<std::uint64_t> first_ticks() const;
  LocationReader read(std::uint32_t location) const;
  // The last readings in a process that was killed or still runs.
  LastClocks last_clocks(std::uint32_t location) const;

 private:
  friend class LocationReader;
  void index_logs();
  bool index_log(std::uint32_t number);
  void index_ring(bool in_use);
  void read_clocks();
  struct Place {  // of the ring
    std::uint64_t offset;
    std::uint32_t size;
    std::uint64_t data;  // offset of the first byte that is not in a hole
    std::uint64_t end;   // of the place or of the file
  };
  void index_ring_segment(const Place& place, bool in_use);
  void check_emptied();
  void add_definitions(const os::File& defs);
  bool known(std::uint32_t location, std::uint64_t sequence) const;
  void check_sequences();
  void drop_late_segments(std::vector<SegmentRef>& segments);
  std::shared_ptr<const LogFiles> keep_logs() const;
  // The segment of the log where it is now. None: it is not there.
  std::optional<SegmentRef> find_again(std::uint32_t location, const SegmentRef& segment) const;

  explicit Reader(SpoolDirectory directory) : directory_(std::move(directory)) {}

  const SpoolDirectory directory_;
  Alive alive_ = Alive::kNo;
  bool has_ring_ = false;
  // Only while the spool is opened: a run may have more processes than there may be files.
  os::File ring_;
  ProcessDefinitions definitions_;
  Damage damage_;
  std::uint64_t foreign_segments_ = 0;
  std::vector<std::uint32_t> logs_;  // numbers of the files, in their order
  mutable std::mutex kept_mutex_;
  mutable std::weak_ptr<const LogFiles> kept_;  // as long as somebody reads
  std::map<std::uint32_t, std::vector<SegmentRef>> segments_;
  std::map<std::uint32_t, LastClocks> clocks_;
  struct Torn {  // a segment whose end is not in the log
    std::uint32_t location;
    std::uint64_t sequence;
  };
  std::optional<Torn> torn_;
  std::vector<Torn> emptied_;  // places of the ring that are being emptied
  bool ring_is_missing_ = false;
};

// Iterates over the events of one location in order of time. Times are ticks. If the first
// segments are missing, the regions that were open at the start of the first remaining one
// are entered there, and a track's open regions where the track continues. Events that a
// running measurement drops meanwhile, as its oldest, may be missing.
class LocationReader {
 public:
  // Replaces `batch` by the next events; false when there are none left.
  bool next(std::vector<Event>& batch);
  // Segments so far that were damaged, wholly or in part.
  std::uint64_t damaged_segments() const noexcept { return damaged_; }
  // Events met so far that the run has dropped since the spool was opened.
  std::uint64_t dropped_events() const noexcept { return dropped_; }

 private:
  friend class Reader;
  LocationReader(const Reader& reader, std::uint32_t thread,
                 const std::vector<SegmentRef>& segments);
  enum class Load : std::uint8_t { kWhole, kInPart, kDropped };
  Load load(const SegmentRef& segment);
  Load load_at(const SegmentRef& segment);
  bool is_intact(const SegmentRef& segment) const;
  Load load_packed(const SegmentRef& segment, const os::File& file);
  const os::File& file_of(const SegmentRef& segment);
  bool begin_segment();
  bool is_sound(const SegmentRef& segment) const;

  const Reader* reader_;
  std::uint32_t thread_;
  const std::vector<SegmentRef>* segments_;
  std::shared_ptr<const LogFiles> kept_;
  os::File log_;
  int log_error_ = 0;
  std::optional<std::uint32_t> open_log_;  // the number of log_
  os::File ring_;
  bool begun_ = false;                                  // a segment has been read
  std::unique_ptr<SegmentDecoder::Appeared> appeared_;  // where the first ones are missing
  std::size_t next_segment_ = 0;
  std::vector<std::uint64_t> words_;  // of a segment
  bool whole_ = true;                 // they are all that it holds, unchanged
  packing::Bytes packed_;
  std::unique_ptr<SegmentUnpacker> unpacker_;  // if there has been a packed segment
  SegmentDecoder decoder_;
  bool in_segment_ = false;  // there is more to decode
  std::uint64_t last_ticks_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t dropped_ = 0;
};

// Parses the records in `defs` after its header.
void parse_definitions(const os::File& defs, ProcessDefinitions& definitions, Damage& damage);

}  // namespace timeloom::spool
