#include <algorithm>
#include <cerrno>
#include <utility>

#include "spool/reader.hpp"
#include "spool/size_limit.hpp"
#include "spool/spool_format.hpp"

namespace timeloom::spool {
namespace {

// So few that the events, and the data that sinks make of them, stay in the cache.
constexpr std::size_t kBatch = 2048;

}  // namespace

// Log files that the run may drop while they are read; all readers at the same time share them. The
// newest is opened first: the oldest are dropped first, so none is missing in between.
std::shared_ptr<const LogFiles> Reader::keep_logs() const {
  if (!definitions_.may_miss_begin) return nullptr;
  const std::lock_guard lock(kept_mutex_);
  if (auto kept = kept_.lock()) return kept;
  const auto files = std::make_shared<LogFiles>();
  for (auto number = logs_.rbegin(); number != logs_.rend(); ++number) {
    int error = 0;
    os::File file = directory_.open(log_name(*number), &error);
    if (error != 0) break;
    files->emplace(*number, std::move(file));
  }
  kept_ = files;
  return files;
}

LocationReader::LocationReader(const Reader& reader, std::uint32_t thread,
                               const std::vector<SegmentRef>& segments)
    : reader_(&reader), thread_(thread), segments_(&segments), kept_(reader.keep_logs()) {
  if (!reader.has_ring_) return;
  int error = 0;  // a file that cannot be opened is counted when it cannot be read
  ring_ = reader.directory_.open(kRingName, &error);
}

const os::File& LocationReader::file_of(const SegmentRef& segment) {
  if (segment.where == SegmentRef::Where::kRing) return ring_;
  if (kept_ != nullptr) {
    if (const auto kept = kept_->find(segment.file); kept != kept_->end()) return kept->second;
  }
  if (open_log_ != segment.file) {
    log_ = reader_->directory_.open(log_name(segment.file), &log_error_);
    open_log_ = segment.file;
  }
  return log_;
}

// A process that runs may have packed the segment in its log since it was found.
LocationReader::Load LocationReader::load(const SegmentRef& segment) {
  const Load loaded = load_at(segment);
  const bool moves = reader_->alive_ != Alive::kNo && segment.where == SegmentRef::Where::kLog;
  if (!moves || loaded == Load::kDropped || (loaded == Load::kWhole && is_intact(segment))) {
    return loaded;
  }
  const std::optional<SegmentRef> again = reader_->find_again(thread_, segment);
  return again ? load_at(*again) : loaded;
}

bool LocationReader::is_intact(const SegmentRef& segment) const {
  return !segment.sealed || records_check(words_) == segment.check;
}

LocationReader::Load LocationReader::load_at(const SegmentRef& segment) {
  if (!segment.words.empty()) {
    words_ = segment.words;
    return Load::kWhole;
  }
  const os::File& file = file_of(segment);
  // A running measurement may have dropped it since it was found, but no segment after existing
  // ones.
  const bool may_go =
      reader_->definitions_.may_miss_begin && !begun_ && segment.where == SegmentRef::Where::kLog;
  if (may_go && !file.is_open() && log_error_ == ENOENT) return Load::kDropped;
  if (segment.stored != 0) return load_packed(segment, file);
  words_.resize(segment.size / sizeof(std::uint64_t));
  int error = 0;
  const std::size_t read =
      file.read_at(segment.offset, std::as_writable_bytes(std::span(words_)), &error);
  words_.resize(read / sizeof(std::uint64_t));
  return read == segment.size ? Load::kWhole : Load::kInPart;
}

// A packed segment is there as a whole, or not at all.
LocationReader::Load LocationReader::load_packed(const SegmentRef& segment, const os::File& file) {
  packed_.resize(segment.stored);
  int error = 0;
  const std::size_t read =
      file.read_at(segment.offset, std::as_writable_bytes(std::span(packed_)), &error);
  if (!unpacker_) unpacker_ = std::make_unique<SegmentUnpacker>();
  const std::size_t words = segment.size / sizeof(EventWord);
  const bool whole = read == segment.stored && unpacker_->unpack(packed_, words, words_);
  if (!whole) words_.clear();
  return whole ? Load::kWhole : Load::kInPart;
}

// Loads the next segment that still exists; false: there is none.
bool LocationReader::begin_segment() {
  while (next_segment_ < segments_->size()) {
    const SegmentRef& segment = (*segments_)[next_segment_++];
    const Load loaded = load(segment);
    if (loaded == Load::kDropped) {
      // No seal covers their number.
      dropped_ += std::min<std::uint64_t>(segment.events, segment.size / sizeof(std::uint64_t));
      continue;
    }
    whole_ = loaded == Load::kWhole;
    decoder_ = {};
    const bool full = segment.full != 0 && segment.full <= words_.size() * sizeof words_[0];
    if (segment.sealed && full) words_.resize(segment.full / sizeof words_[0]);
    if (!is_intact(segment)) {
      whole_ = false;
      words_.clear();
      return true;
    }
    if (!std::exchange(begun_, true) && segment.sequence > 0) {
      appeared_ = std::make_unique<SegmentDecoder::Appeared>();
    }
    decoder_ = SegmentDecoder(words_, segment.base, thread_, appeared_.get());
    return true;
  }
  return false;
}

// Whether all that the segment should hold has been decoded.
bool LocationReader::is_sound(const SegmentRef& segment) const {
  const std::size_t used = decoder_.used();
  if (segment.where == SegmentRef::Where::kLog) return used == words_.size();
  const bool at_end = used == words_.size() || words_[used] == 0;
  return at_end && (segment.full == 0 || segment.full == used * sizeof(std::uint64_t));
}

bool LocationReader::next(std::vector<Event>& batch) {
  batch.clear();
  while (batch.empty() && (in_segment_ || begin_segment())) {
    in_segment_ = decoder_.decode(kBatch, last_ticks_, batch);
    if (in_segment_) continue;
    if (!whole_ || !is_sound((*segments_)[next_segment_ - 1])) ++damaged_;
  }
  return !batch.empty();
}

}  // namespace timeloom::spool
