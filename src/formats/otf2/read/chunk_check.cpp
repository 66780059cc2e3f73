#include "formats/otf2/read/chunk_check.hpp"

#include <bit>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace timeloom::otf2 {

namespace {

// Control bytes; other numbers are records.
constexpr std::uint8_t kEndOfChunk = 0;
constexpr std::uint8_t kEndOfFile = 2;
constexpr std::uint8_t kChunkHeader = 3;
constexpr std::uint8_t kTimestamp = 5;      // in event files
constexpr std::uint8_t kAttributeList = 6;  // in event files
constexpr std::uint8_t kEnter = 12;
constexpr std::uint8_t kLeave = 13;

bool walk_header(Bytes& bytes) {
  constexpr std::uint64_t kHeaderSize = 18;
  if (bytes.left() < kHeaderSize || bytes.at[0] != kChunkHeader) return false;
  const std::uint8_t endianness = bytes.at[1];
  if (endianness != 0x42 && endianness != 0x23) return false;
  bytes.big_endian = endianness == 0x23;
  bytes.at += kHeaderSize;
  return true;
}

// The number in the next `size` bytes. REQUIRES: they exist.
std::uint64_t number_at(const Bytes& bytes, unsigned size) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < size; ++i) {
    number |= std::uint64_t{bytes.at[i]} << 8 * (bytes.big_endian ? size - 1 - i : i);
  }
  return number;
}

bool walk_length(Bytes& bytes, std::uint64_t& length) {
  if (bytes.left() < 1) return false;
  length = *bytes.at++;
  if (length != 0xff) return true;
  if (bytes.left() < 8) return false;
  length = number_at(bytes, 8);
  bytes.at += 8;
  return true;
}

// Walks enters and leaves that carry a time, in the byte order of this machine: nearly all records
// of a file that is read to compare it with its source. Returns their number; `time`: the time of
// the last.
std::uint64_t walk_calls(Bytes& bytes, EventDigest& digest, std::uint64_t& time) {
  constexpr std::uint64_t kLongest = 16;  // 1 + 8 for the time, 1 + 1 + 4 for the region
  if (std::endian::native != std::endian::little || bytes.big_endian) return 0;
  std::uint64_t calls = 0, last = time;
  for (; bytes.left() >= kLongest; ++calls) {
    const std::uint8_t record = bytes.at[9], size = bytes.at[10];
    const bool call = bytes.at[0] == kTimestamp && (record == kEnter || record == kLeave);
    if (!call || size > 4) break;
    std::uint32_t region = 0;
    std::memcpy(&last, bytes.at + 1, sizeof last);
    std::memcpy(&region, bytes.at + 11, sizeof region);
    region &= static_cast<std::uint32_t>((std::uint64_t{1} << 8 * size) - 1);
    digest.add(last, region, record == kLeave);
    bytes.at += 11 + size;
  }
  time = last;
  return calls;
}

}  // namespace

ChunkCheck::ChunkCheck(const ArchiveFile& file, FileKind kind, std::uint64_t chunk_size,
                       EventDigest* digest)
    : path_(file.path()),
      kind_(kind),
      digest_(digest),
      file_(file.open()),
      chunk_size_(chunk_size),
      chunk_(std::make_unique_for_overwrite<std::uint8_t[]>(chunk_size)) {
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // whole chunks are read
}

ChunkCheck::Result ChunkCheck::next() {
  const std::size_t size = std::fread(chunk_.get(), 1, chunk_size_, file_.get());
  if (std::ferror(file_.get()) != 0) {
    throw Error("cannot read " + path_ + ": " + std::strerror(errno) + " [TL301]");
  }
  // The library takes for granted that a byte follows every record.
  const bool full = size == chunk_size_;
  Bytes bytes{chunk_.get(), chunk_.get() + (full ? size - 1 : size), false};
  Result result;
  if (!walk_header(bytes)) return {0, false, true};
  bool attributes = false;
  while (true) {
    if (const std::uint64_t calls = digest_ == nullptr ? 0 : walk_calls(bytes, *digest_, time_)) {
      result.records += calls;
      attributes = false;
    }
    const bool at_end = full && bytes.left() == 0 && chunk_[size - 1] == kEndOfChunk;
    const Step taken = at_end ? Step::kEndOfChunk : step(bytes);
    if (taken == Step::kRecord) {
      ++result.records;
      attributes = false;
    } else if (taken == Step::kAttributes && !attributes) {
      attributes = true;  // no tool writes two in a row, and the library reads them recursively
    } else {
      result.last = taken == Step::kEndOfFile && !attributes;
      result.damaged = !result.last && (taken != Step::kEndOfChunk || attributes || !full);
      return result;
    }
  }
}

// Enter and Leave, nearly all of the events: a single number.
ChunkCheck::Step ChunkCheck::step_region(std::uint8_t record, Bytes& bytes) {
  if (bytes.left() < 1) return Step::kDamaged;
  const std::uint8_t size = *bytes.at++;
  const bool undefined = size == 0xff;
  if (!undefined && (size > 4 || bytes.left() < size)) return Step::kDamaged;
  if (digest_ != nullptr) {
    const std::uint64_t region = undefined ? UINT32_MAX : number_at(bytes, size);
    digest_->add(time_, static_cast<std::uint32_t>(region), record == kLeave);
  }
  if (!undefined) bytes.at += size;
  return Step::kRecord;
}

ChunkCheck::Step ChunkCheck::step(Bytes& bytes) {
  if (bytes.left() < 1) return Step::kDamaged;
  std::uint8_t record = *bytes.at++;
  if (kind_ == FileKind::kEvents && record == kTimestamp) {
    if (bytes.left() < 9) return Step::kDamaged;
    if (digest_ != nullptr) time_ = number_at(bytes, 8);
    bytes.at += 8;
    record = *bytes.at++;
    if (record == kTimestamp) return Step::kDamaged;
  }
  if (kind_ == FileKind::kEvents && (record == kEnter || record == kLeave)) {
    return step_region(record, bytes);
  }
  if (record == kEndOfChunk) return Step::kEndOfChunk;
  if (record == kEndOfFile) return Step::kEndOfFile;
  if (record < kTimestamp) return Step::kDamaged;
  return step_record(record, bytes);
}

ChunkCheck::Step ChunkCheck::step_record(std::uint8_t record, Bytes& bytes) const {
  const RecordLayout layout = layout_of(kind_, record);
  if (layout.bare) return walk(layout.fields, bytes) ? Step::kRecord : Step::kDamaged;
  std::uint64_t length = 0;
  if (!walk_length(bytes, length) || bytes.left() < length) return Step::kDamaged;
  Bytes fields{bytes.at, bytes.at + length, bytes.big_endian};
  bytes.at += length;
  if (layout.fields != nullptr && !walk(layout.fields, fields)) return Step::kDamaged;
  if (kind_ != FileKind::kEvents || record != kAttributeList) return Step::kRecord;
  return fields.left() == 0 ? Step::kAttributes : Step::kDamaged;
}

namespace {

std::uint64_t count_records(ChunkCheck& file, const std::string& path) {
  std::uint64_t records = 0;
  while (true) {
    const ChunkCheck::Result chunk = file.next();
    records += chunk.records;
    if (chunk.damaged) {
      throw Error(
          path + " is damaged or cut off after " + std::to_string(records) +
          " records, and the trace cannot be read without it; copy the trace again [TL318]");
    }
    if (chunk.last) return records;
  }
}

}  // namespace

std::uint64_t count_records(const ArchiveFile& archive_file, FileKind kind,
                            std::uint64_t chunk_size) {
  ChunkCheck file(archive_file, kind, chunk_size);
  return count_records(file, archive_file.path());
}

EventFile read_events(const ArchiveFile& archive_file, std::uint64_t chunk_size) {
  EventFile result;
  ChunkCheck file(archive_file, FileKind::kEvents, chunk_size, &result.digest);
  result.events = count_records(file, archive_file.path());
  return result;
}

}  // namespace timeloom::otf2
