#include "formats/packed/packed_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"

namespace timeloom::packed {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

constexpr std::uint64_t kAlignment = 8;
constexpr std::size_t kSearched = 1 << 16;  // bytes that are searched for a head at a time

std::uint64_t check_of_words(const void* words, std::size_t bytes) {
  return words_check({static_cast<const std::uint64_t*>(words), bytes / sizeof(std::uint64_t)});
}

std::uint64_t check_of(const SectionHead& head) {
  std::uint64_t words[sizeof(SectionHead) / sizeof(std::uint64_t) - 1];
  std::memcpy(words, &head, sizeof words);
  return words_check(words);
}

// REQUIRES: whole words, at an address that is aligned for them.
std::uint64_t check_of_body(ByteSpan bytes) { return check_of_words(bytes.data(), bytes.size()); }

bool has_check(const SectionHead& head) {
  return head.magic == kMagic && head.head_check == check_of(head);
}

}  // namespace

Bytes section_bytes(SectionHead head, ByteSpan body) {
  Bytes bytes(sizeof head + aligned(body.size()));
  if (!body.empty()) std::memcpy(bytes.data() + sizeof head, body.data(), body.size());
  head.size = body.size();
  head.body_check = check_of_body(ByteSpan(bytes).subspan(sizeof head));
  head.head_check = check_of(head);
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

FileWriter::FileWriter(std::filesystem::path path, std::uint64_t run)
    : path_(std::move(path)), run_(run) {
  int error = 0;
  file_ = os::File::create_exclusive(path_.string(), &error);
  if (error != 0) fail(error);
}

void FileWriter::fail(int error) const {
  throw Error("cannot write " + path_.string() + ": " + std::generic_category().message(error) +
              " [TL161]");
}

void FileWriter::append(SectionHead head, ByteSpan body) {
  head.run = run_;
  head.version = version_;
  const Bytes bytes = section_bytes(head, body);
  std::memcpy(&head, bytes.data(), sizeof head);
  const std::lock_guard lock(mutex_);
  if (const int error = file_.write_at(size_, std::as_bytes(std::span(bytes))); error != 0) {
    fail(error);
  }
  size_ += bytes.size();
  checks_.push_back(head.head_check);
}

void FileWriter::copy(const os::File& from, std::uint64_t at, std::uint64_t size,
                      std::uint64_t number, std::uint64_t sections) {
  const std::lock_guard lock(mutex_);
  if (const int error = file_.copy_from(from, at, size_, size); error != 0) fail(error);
  size_ += size;
  if (sections != 0) copied_[number] += sections;
}

void FileWriter::check() const {
  const FileReader written(path_);
  Bytes body;
  auto expected = checks_.begin();
  std::map<std::uint64_t, std::uint64_t> copied;
  bool same = written.damaged_parts() == 0;
  for (const Section& section : written.sections()) {
    if (section.head.run != run_) {
      ++copied[section.head.run];
    } else {
      same = same && expected != checks_.end() && section.head.head_check == *expected++ &&
             written.read(section, body);
    }
  }
  if (same && expected == checks_.end() && copied == copied_) return;
  throw Error(path_.string() +
              " does not hold the written events; make room or choose another disk, and weave "
              "again [TL162]");
}

FileReader::FileReader(const std::filesystem::path& path) : path_(path) {
  int error = 0;
  file_ = os::File::open_read(path.string(), &error);
  if (error == 0) size_ = file_.size(&error);
  if (error != 0) {
    throw Error("cannot read " + path.string() + ": " + std::generic_category().message(error) +
                " [TL163]");
  }
  check_first();
  if (sections_.empty() || sections_.front().head.kind != SectionKind::kDefinitions) {
    throw Error(path.string() +
                " is cut off or damaged at its start, where its definitions are [TL164]");
  }
}

FileReader::FileReader(os::File file, std::string name, std::uint64_t at, std::uint64_t size,
                       std::uint64_t number)
    : path_(std::move(name)), file_(std::move(file)), size_(at + size) {
  find_sections(at, number);
}

bool read_head(const os::File& file, std::uint64_t at, SectionHead& head) {
  int error = 0;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&head, 1));
  return file.read_at(at, bytes, &error) == sizeof head && has_check(head);
}

std::uint64_t next_head(const os::File& file, std::uint64_t at, std::uint64_t end) {
  std::vector<std::uint64_t> words(kSearched / sizeof(std::uint64_t));
  while (at < end) {
    // A hole, which may be larger than any disk, holds no head.
    at = file.next_data(at, end) / sizeof(std::uint64_t) * sizeof(std::uint64_t);
    int error = 0;
    const std::size_t read = file.read_at(at, std::as_writable_bytes(std::span(words)), &error);
    if (read < sizeof(std::uint64_t)) return end;
    const std::size_t count = read / sizeof(std::uint64_t);
    for (std::size_t i = 0; i < count; ++i) {
      SectionHead head;
      if (static_cast<std::uint32_t>(words[i]) != kMagic) continue;
      const std::uint64_t place = at + i * sizeof(std::uint64_t);
      if (read_head(file, place, head)) return std::min(place, end);
    }
    at += count * sizeof(std::uint64_t);
  }
  return end;
}

void FileReader::check_first() {
  const std::string name = path_.string();
  SectionHead head;
  if (!read_head(file_, 0, head) || head.kind != SectionKind::kDefinitions) {
    throw Error(name + " is not a packed run, or its start is damaged [TL164]");
  }
  if (head.version > kVersion) {
    throw Error(name + " was packed by a newer version of Timeloom, which can read it [TL165]");
  }
  find_sections(0, head.run);
}

void FileReader::find_sections(std::uint64_t at, std::uint64_t run) {
  std::set<std::uint64_t> parts;
  SectionHead head;
  while (at < size_) {
    if (!read_head(file_, at, head)) {
      ++damaged_parts_;
      at = next_head(file_, at + kAlignment, size_);
      continue;
    }
    at += sizeof head;
    if (head.size > size_ - std::min(at, size_)) {  // cut off, or a claim
      ++damaged_parts_;
      continue;
    }
    const bool is_of_part = head.kind == SectionKind::kBlock && parts.contains(head.run);
    if ((head.run == run || is_of_part) && head.version <= kVersion) {
      sections_.push_back({head, at});
      if (head.kind == SectionKind::kPart) parts.insert(head.location);
    } else {
      ++damaged_parts_;
    }
    at += std::min(aligned(head.size), size_ - at);
  }
}

bool FileReader::read(const Section& section, Bytes& body) const {
  return read_body(file_, section, body);
}

bool read_body(const os::File& file, const Section& section, Bytes& body) {
  // A file with holes may claim more bytes than any disk has.
  constexpr std::uint64_t kAlwaysRead = 1 << 24;
  const std::uint64_t end = section.at + section.head.size;
  if (section.head.size > kAlwaysRead && file.next_hole(section.at, end) < end) return false;
  body.resize(aligned(section.head.size));
  int error = 0;
  const std::size_t read =
      file.read_at(section.at, std::as_writable_bytes(std::span(body)), &error);
  if (read != body.size()) return false;
  if (check_of_body(body) != section.head.body_check) return false;
  body.resize(section.head.size);
  return true;
}

}  // namespace timeloom::packed
