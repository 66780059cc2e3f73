#include "spool/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "spool/size_limit.hpp"
#include "spool/spool_format.hpp"

namespace timeloom::spool {
namespace {

// The header in a file, which is not trusted.
struct RawHeader {
  std::uint32_t magic;
  std::uint32_t state;  // of a packed segment: bytes of its packed records
  std::uint32_t location;
  std::uint32_t size;
  std::uint64_t sequence;
  std::uint64_t base;
  std::uint64_t check;
  std::uint64_t records;
  std::uint64_t seal;
  std::uint64_t events;

  // Whether it is a segment of the spool with this key, and whether it is one of another spool;
  // neither if it is damaged. None: an earlier spool, or one that has lost its key.
  bool is_of(std::optional<std::uint64_t> key) const {
    if (!key && tag_in(events) != 0) return true;
    return check == segment_check(location, sequence, base, key.value_or(0));
  }
  bool is_of_other(std::optional<std::uint64_t> key) const {
    return key && !is_of(key) && tag_in(events) != tag_of(*key);
  }
  bool sound(std::optional<std::uint64_t> key) const {
    return magic == kSegmentMagic && is_of(key);
  }
  bool packed() const { return magic == kPackedMagic; }
  // Bytes behind the head, in the log.
  std::uint64_t stored() const { return packed() ? bytes_in_log(state) : size; }
  // In the log, where nothing changes any more; of any spool.
  bool sealed() const {
    if (size > kMaxSegmentSize || size % sizeof(std::uint64_t) != 0) return false;
    if (packed()) return seal == packed_seal(check, size, records, state) && state <= size;
    return magic == kSegmentMagic && seal == segment_seal(check, size, records);
  }
};
static_assert(sizeof(RawHeader) == sizeof(SegmentHeader));

template <typename T>
bool read_object(const os::File& file, std::uint64_t offset, T& object) {
  int error = 0;
  return file.read_at(offset, std::as_writable_bytes(std::span(&object, 1)), &error) ==
         sizeof object;
}

os::File open_part(const SpoolDirectory& directory, const char* name) {
  int error = 0;
  os::File file = directory.open(name, &error);
  if (error != 0 && error != ENOENT) {
    throw Error("cannot read " + directory.path() + "/" + name + ": " + std::strerror(error) +
                " [TL210]");
  }
  return file;
}

DefsHeader read_head(const os::File& defs, const std::string& directory) {
  DefsHeader header{};
  if (!defs.is_open() || !read_object(defs, 0, header) || header.magic != kDefsMagic) {
    throw Error(directory + " holds no spool of a Timeloom measurement [TL216]");
  }
  const auto bytes = std::as_bytes(std::span(&header, 1));
  if (header.check != checksum(bytes.data(), offsetof(DefsHeader, check))) {
    throw Error("the head of " + directory + "/" + kDefsName +
                " is damaged, so its events have no time; take the file from a copy [TL238]");
  }
  if (!is_known_version(header.version)) {
    throw Error(directory + " was written by another version of Timeloom (spool format " +
                std::to_string(header.version) + ", this one reads " +
                std::to_string(kOldestVersion) + " to " + std::to_string(kVersion) +
                "); weave it with that version [TL239]");
  }
  return header;
}

// The start of the next sealed segment of the log, from `offset` on; `end` if there is none.
// Segments lie at multiples of eight bytes, and start with a magic number.
std::uint64_t next_sealed(const os::File& log, std::uint64_t offset, std::uint64_t end) {
  std::vector<std::uint64_t> words(128 << 10);
  constexpr std::size_t kHeaderWords = sizeof(RawHeader) / sizeof(std::uint64_t);
  while (end - offset >= sizeof(RawHeader)) {
    offset = std::max(offset, log.next_data(offset, end) / sizeof words[0] * sizeof words[0]);
    int error = 0;
    const std::size_t read =
        log.read_at(offset, std::as_writable_bytes(std::span(words)), &error) / sizeof words[0];
    if (read < kHeaderWords) break;
    for (std::size_t i = 0; i + kHeaderWords <= read; ++i) {
      const auto magic = static_cast<std::uint32_t>(words[i]);
      if (magic != kSegmentMagic && magic != kPackedMagic) continue;
      RawHeader header{};
      std::memcpy(&header, &words[i], sizeof header);
      if (header.sealed()) return offset + i * sizeof words[0];
    }
    offset += (read - kHeaderWords + 1) * sizeof words[0];
  }
  return end;
}

// The files of the log, in their order.
std::vector<std::uint32_t> logs_of(const SpoolDirectory& directory) {
  std::vector<std::uint32_t> numbers;
  int error = 0;
  for (const std::string& name : directory.names(&error)) {
    if (const auto number = log_number(name)) numbers.push_back(*number);
  }
  if (error != 0)
    throw Error("cannot read " + directory.path() + ": " + std::strerror(error) + " [TL210]");
  std::ranges::sort(numbers);
  return numbers;
}

OpenPart parts_of(const SpoolDirectory& directory) {
  return [&directory](const std::string& name, int* error) { return directory.open(name, error); };
}

// UINT64_MAX: it does not exist, or cannot be read.
std::uint64_t size_of(const SpoolDirectory& directory, const char* name) {
  int error = 0;
  const os::File file = directory.open(name, &error);
  const std::uint64_t size = file.is_open() ? file.size(&error) : UINT64_MAX;
  return error == 0 ? size : UINT64_MAX;
}

}  // namespace

// The file `life` comes first, then `defs`, `log` and `ring`, then the head of `defs`.
bool was_killed_at_begin(const SpoolDirectory& directory) {
  if (!is_gone(parts_of(directory))) return false;
  const std::uint64_t log = size_of(directory, kLogName);
  return size_of(directory, kDefsName) < sizeof(DefsHeader) && (log == 0 || log == UINT64_MAX);
}

bool has_log(const SpoolDirectory& directory) { return !logs_of(directory).empty(); }

std::unique_ptr<Reader> Reader::open(const SpoolDirectory& directory, bool with_log) {
  // Tested first: if the process ends meanwhile, its end is among the definitions.
  const Alive life = timeloom::alive(parts_of(directory));
  const os::File defs = open_part(directory, kDefsName);
  const DefsHeader header = read_head(defs, directory.path());
  std::unique_ptr<Reader> reader(new Reader(directory));
  reader->definitions_.clock_source = static_cast<os::ClockSource>(header.clock_source);
  parse_definitions(defs, reader->definitions_, reader->damage_);
  // A process that has stopped measuring writes nothing more, however long it lives.
  reader->alive_ = reader->definitions_.ended ? Alive::kNo : life;
  const bool in_use = reader->alive_ != Alive::kNo;
  // The ring first: segments that a running process drains meanwhile are then found twice;
  // in the opposite order they would be missed.
  reader->ring_ = open_part(directory, kRingName);
  reader->index_ring(in_use);
  if (with_log) reader->index_logs();
  reader->check_emptied();
  reader->check_sequences();
  reader->has_ring_ = reader->ring_.is_open();
  reader->ring_.close();
  if (in_use) reader->add_definitions(defs);
  return reader;
}

void Reader::catch_up() {
  if (alive_ != Alive::kNo) add_definitions(open_part(directory_, kDefsName));
}

// Reads the definitions to which events found meanwhile refer.
void Reader::add_definitions(const os::File& defs) {
  Damage known;
  const ProcessDefinitions before = std::exchange(definitions_, {});
  parse_definitions(defs, definitions_, known);
  definitions_.clock_source = before.clock_source;
  if (definitions_.ended) return;
  definitions_.lost_events = before.lost_events;
  definitions_.ending = before.ending;
  definitions_.dropped_events = before.dropped_events;
  definitions_.cpu = before.cpu;
}

bool Reader::complete() const noexcept {
  // In the end the ring is removed, unless a write failed before.
  return definitions_.ended && !has_ring_ && !damage_.any();
}

bool Reader::misses_begin() const noexcept {
  if (!definitions_.may_miss_begin) return false;
  if (alive_ != Alive::kNo) return true;
  const bool wrote_log = definitions_.ended && definitions_.log_size != 0;
  if (logs_.empty() ? wrote_log : logs_.front() > 0) return true;
  return std::ranges::any_of(segments_, [](const auto& thread) {
    return !thread.second.empty() && thread.second.front().sequence > 0;
  });
}

// The oldest file is dropped first: if a file has just been dropped, so have all before it.
void Reader::index_logs() {
  logs_ = logs_of(directory_);
  for (auto number = logs_.rbegin(); number != logs_.rend(); ++number) {
    if (!index_log(*number) && definitions_.may_miss_begin) break;
  }
  const bool may_miss_all = definitions_.may_miss_begin && logs_.empty();
  const bool has_last = definitions_.ended && definitions_.log_size != 0 && !may_miss_all;
  if (has_last && !std::ranges::binary_search(logs_, definitions_.last_log)) ++damage_.segments;
}

bool Reader::index_log(std::uint32_t number) {
  const os::File log = open_part(directory_, log_name(number).c_str());
  if (!log.is_open()) return false;  // it was dropped
  int error = 0;
  const std::uint64_t end = log.size(&error);
  const std::optional<std::uint64_t> own = definitions_.key;
  std::uint64_t offset = 0, foreign = 0;
  while (end - offset >= sizeof(RawHeader)) {
    RawHeader header{};
    if (!read_object(log, offset, header) || !header.sealed() ||
        (!header.is_of(own) && !header.is_of_other(own))) {
      ++damage_.segments;
      offset = next_sealed(log, offset + sizeof(std::uint64_t), end);
      continue;
    }
    offset += sizeof header;
    if (!header.is_of(own)) {
      const std::uint64_t bytes = std::min(header.stored(), end - offset);
      ++foreign_segments_;
      foreign += sizeof header + bytes;
      offset += bytes;
      continue;
    }
    if (header.stored() > end - offset) {
      // A kill during the append: then it is still in the ring. The newest log is read first.
      if (!torn_) torn_ = {header.location, header.sequence};
      break;
    }
    // A hole reads as zeros, and no record is zero: it need not be read.
    const std::uint64_t next = offset + header.stored();
    const bool sound = log.next_hole(offset, next) == next;
    if (!sound) ++damage_.segments;
    SegmentRef found{.sequence = header.sequence,
                     .base = header.base,
                     .offset = offset,
                     .check = sound ? header.records : records_check({}),
                     .size = sound ? header.size : 0,
                     .stored = sound && header.packed() ? header.state : 0,
                     .file = number,
                     .events = number_in(header.events)};
    segments_[header.location].push_back(std::move(found));
    offset = next;
  }
  // A record that was cut off between two segments leaves no other trace.
  const bool last = definitions_.ended && number == definitions_.last_log;
  if (last && offset - foreign != definitions_.log_size) ++damage_.segments;
  return true;
}

std::optional<SegmentRef> Reader::find_again(std::uint32_t location,
                                             const SegmentRef& segment) const {
  // Only a file that another one follows is packed.
  int error = 0;
  if (!directory_.open(log_name(segment.file + 1), &error).is_open()) return std::nullopt;
  Reader now(directory_);
  now.definitions_.key = definitions_.key;
  try {
    if (!now.index_log(segment.file)) return std::nullopt;
  } catch (const Error&) {  // the file cannot be opened, which is counted as damage
    return std::nullopt;
  }
  auto& segments = now.segments_[location];
  const auto found = std::ranges::find(segments, segment.sequence, &SegmentRef::sequence);
  return found == segments.end() ? std::nullopt : std::optional(std::move(*found));
}

void Reader::index_ring(bool in_use) {
  struct {
    std::uint64_t magic;
    std::uint32_t version, segment_size, segment_count, check;
    std::uint64_t lost_events, ending, dropped_events, process_cpu_ns, other_cpu_ns;
  } header{};
  static_assert(sizeof header == sizeof(RingHeader));
  if (!ring_.is_open() || !read_object(ring_, 0, header) || header.magic == 0) {
    // Removed after a good end, or not yet there when the process was killed.
    ring_is_missing_ = !definitions_.ended;
    return;
  }
  const auto bytes = std::as_bytes(std::span(&header, 1));
  const std::uint32_t size = header.segment_size;
  if (header.magic != kRingMagic || header.check != checksum(bytes.data(), 16) ||
      !is_known_version(header.version) || size < kMinSegmentSize || size > kMaxSegmentSize) {
    ++damage_.segments;
    return;
  }
  if (!definitions_.ended) {
    definitions_.lost_events = header.lost_events;
    definitions_.ending = to_ending(header.ending);
    definitions_.dropped_events = header.dropped_events;
    definitions_.cpu = {header.process_cpu_ns,
                        std::min(header.other_cpu_ns, header.process_cpu_ns)};
    read_clocks();
  }
  int error = 0;
  const std::uint64_t end = ring_.size(&error);
  if (kRingHeaderSize + std::uint64_t{header.segment_count} * size > end) ++damage_.segments;
  for (std::uint64_t offset = kRingHeaderSize; offset < end; offset += size) {
    const std::uint64_t data = ring_.next_data(offset, end);  // bytes in a hole were never used
    offset += (data - offset) / size * size;
    index_ring_segment({offset, size, data, std::min(offset + size, end)}, in_use);
  }
}

void Reader::index_ring_segment(const Place& place, bool in_use) {
  const std::uint64_t offset = place.offset;
  struct {
    RawHeader header;
    std::uint64_t first_word;
  } segment{}, again{};
  if (!read_object(ring_, offset, segment)) return;  // cut off, and counted as such
  const RawHeader& header = segment.header;
  // Read after the head: a segment that is full by then had got its space before.
  const std::uint64_t hole = ring_.next_hole(place.data, place.end);
  const std::uint64_t space = hole < place.end ? hole - offset : place.size;
  if (space <= sizeof header) return;
  const auto room = static_cast<std::uint32_t>(space - sizeof header);
  const auto state = static_cast<SegmentState>(header.state);
  const bool holds_events = state == SegmentState::kActive || state == SegmentState::kFull;
  if (!holds_events && segment.first_word == 0) return;
  if (!holds_events && header.sound(definitions_.key)) {
    emptied_.push_back({header.location, header.sequence});
    return;
  }
  SegmentRef found{.sequence = header.sequence,
                   .base = header.base,
                   .offset = offset + sizeof header,
                   .check = header.records,
                   .size = room,
                   .full = state == SegmentState::kFull ? header.size : 0,
                   .where = SegmentRef::Where::kRing,
                   // In a ring that is in use it may be on its way into the log.
                   .sealed = header.seal != 0 && !in_use};
  if (found.sealed && !(header.sealed() && header.sound(definitions_.key))) {
    ++damage_.segments;
    found.sealed = false;
  }
  if (in_use) {
    found.words.resize(room / sizeof(std::uint64_t));
    int error = 0;
    ring_.read_at(found.offset, std::as_writable_bytes(std::span(found.words)), &error);
    // Drained and used again since it was found: it is in the log by now.
    if (!read_object(ring_, offset, again) || again.header.check != header.check) return;
    const auto now = static_cast<SegmentState>(again.header.state);
    if (now != SegmentState::kActive && now != SegmentState::kFull) return;
  }
  if (!header.sound(definitions_.key)) {
    ++damage_.segments;
    return;
  }
  segments_[header.location].push_back(std::move(found));
}

// A segment that a kill left half emptied is in the log, or its state is damaged.
void Reader::check_emptied() {
  for (const Torn& one : emptied_) {
    const bool may_be_dropped = definitions_.may_miss_begin;
    if (!known(one.location, one.sequence) && !may_be_dropped) ++damage_.segments;
  }
  const bool recorded = !definitions_.threads.empty() || !segments_.empty();
  if (ring_is_missing_ && recorded) ++damage_.segments;
}

bool Reader::known(std::uint32_t location, std::uint64_t sequence) const {
  const auto found = segments_.find(location);
  if (found == segments_.end()) return false;
  return std::ranges::find(found->second, sequence, &SegmentRef::sequence) != found->second.end();
}

// A segment may have taken so long to get into the log that later ones were written and
// dropped: it lies after them. It has at least as many words as events.
void Reader::drop_late_segments(std::vector<SegmentRef>& segments) {
  const auto place = [](const SegmentRef& one) {
    return std::tuple(one.where, one.file, one.offset);
  };
  auto first = segments.begin();
  for (; std::next(first) != segments.end(); ++first) {
    const SegmentRef& next = *std::next(first);
    if (next.sequence == first->sequence + 1 || place(*first) < place(next)) break;
    const std::uint32_t bytes = first->full != 0 ? first->full : first->size;
    definitions_.dropped_events += bytes / sizeof(std::uint64_t);
  }
  segments.erase(segments.begin(), first);
}

// Sorts, drops ring copies of segments that are in the log, and counts gaps.
void Reader::check_sequences() {
  if (torn_ && !known(torn_->location, torn_->sequence)) ++damage_.segments;
  for (auto& [location, segments] : segments_) {
    std::stable_sort(segments.begin(), segments.end(),
                     [](const SegmentRef& a, const SegmentRef& b) {
                       return std::pair(a.sequence, a.where) < std::pair(b.sequence, b.where);
                     });
    const auto again = std::unique(
        segments.begin(), segments.end(),
        [](const SegmentRef& a, const SegmentRef& b) { return a.sequence == b.sequence; });
    segments.erase(again, segments.end());
    if (definitions_.may_miss_begin) drop_late_segments(segments);
    // Files are dropped in order, and the segments of each thread are in order.
    std::uint64_t expected = definitions_.may_miss_begin ? segments.front().sequence : 0;
    for (const SegmentRef& segment : segments) {
      damage_.missing_segments += segment.sequence - expected;
      expected = segment.sequence + 1;
    }
  }
}

std::vector<std::uint32_t> Reader::locations() const {
  std::vector<std::uint32_t> result;
  for (const auto& [index, thread] : definitions_.threads) result.push_back(index);
  for (const auto& [index, segments] : segments_) {
    if (!definitions_.threads.contains(index) && bytes(index) > 0) result.push_back(index);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::uint64_t Reader::bytes(std::uint32_t location) const {
  const auto found = segments_.find(location);
  std::uint64_t sum = 0;
  if (found == segments_.end()) return sum;
  for (const SegmentRef& segment : found->second) sum += segment.size;
  return sum;
}

Reader::Packed Reader::packed() const noexcept {
  Packed sum;
  for (const auto& [location, segments] : segments_) {
    for (const SegmentRef& segment : segments) {
      if (segment.stored == 0) continue;
      sum.records += segment.size;
      sum.stored += segment.stored;
    }
  }
  return sum;
}

// The base of a segment is the time of its first event.
std::optional<std::uint64_t> Reader::first_ticks() const {
  std::optional<std::uint64_t> first;
  for (const auto& [location, segments] : segments_) {
    for (const SegmentRef& segment : segments) {
      first = std::min(first.value_or(segment.base), segment.base);
    }
  }
  return first;
}

LocationReader Reader::read(std::uint32_t location) const {
  static const std::vector<SegmentRef> kNone;
  const auto found = segments_.find(location);
  return LocationReader(*this, location, found == segments_.end() ? kNone : found->second);
}

}  // namespace timeloom::spool
