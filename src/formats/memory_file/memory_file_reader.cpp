#include "formats/memory_file/memory_file_reader.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <system_error>

#include "core/checksum.hpp"
#include "core/error.hpp"

namespace timeloom::memory_file {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

using packing::ByteReader;
using packing::unzigzag;

constexpr std::uint64_t kMostNumbers = 16;  // of a path or a block, in a body

std::uint32_t defined_number(ByteReader& reader) noexcept {
  const std::uint64_t number = reader.varint();
  if (number > UINT32_MAX) reader.fail();
  return static_cast<std::uint32_t>(number - 1);
}

Amount amount_in(ByteReader& reader) noexcept {
  Amount amount;
  amount.bytes = reader.varint();
  amount.blocks = reader.varint();
  amount.least = reader.varint();
  return amount;
}

}  // namespace

std::uint64_t section_check(const SectionHead& head, packing::ByteSpan body) noexcept {
  const auto bytes = std::as_bytes(body);
  std::uint64_t check = mix(kMagic, static_cast<std::uint64_t>(head.kind));
  for (const std::uint64_t part : {std::uint64_t{head.group}, head.count, head.size}) {
    check = mix(check, part);
  }
  return mix(check, checksum(bytes.data(), bytes.size()));
}

Reader::Reader(const std::filesystem::path& path) : path_(path) {
  int error = 0;
  file_ = os::File::open_read(path.string(), &error);
  if (error == 0) size_ = file_.size(&error);
  if (error != 0) {
    throw Error("cannot read " + path.string() + ": " + std::generic_category().message(error) +
                " [TL730]");
  }
  find_sections();
}

void Reader::refuse() const {
  throw Error(path_.filename().string() +
              " is damaged or of another version; weave the run again, or remove the file: " +
              path_.string() + " [TL730]");
}

void Reader::find_sections() {
  std::uint64_t magic = 0, at = 0;
  int error = 0;
  const auto read = [&](void* to, std::size_t size) {
    const std::span bytes(static_cast<std::byte*>(to), size);
    if (file_.read_at(at, bytes, &error) != size || error != 0) refuse();
    at += size;
  };
  read(&magic, sizeof magic);
  if (magic != kMagic) refuse();
  for (bool ended = false; !ended;) {
    SectionHead head;
    read(&head, sizeof head);
    if (head.size > size_ - at) refuse();
    ended = head.kind == SectionKind::kEnd;
    if (ended && (head.group != sections_.size() || head.size != 0 ||
                  head.check != section_check(head, {}))) {
      refuse();
    }
    const bool of_blocks = sections_.size() % 2 == 1;  // of the process before
    const SectionKind wanted = of_blocks ? SectionKind::kBlocks : SectionKind::kPaths;
    if (!ended && (head.kind != wanted || head.count > (of_blocks ? kMostBlocks : kMostPaths) ||
                   (of_blocks && head.group != sections_.back().head.group))) {
      refuse();
    }
    if (!ended && !of_blocks && !places_.emplace(head.group, sections_.size()).second) refuse();
    if (!ended) sections_.push_back({head, at});
    at += head.size;
  }
  if (at != size_ || sections_.size() % 2 != 0) refuse();
}

std::vector<std::uint32_t> Reader::groups() const {
  std::vector<std::uint32_t> groups;
  for (std::size_t i = 0; i < sections_.size(); i += 2) groups.push_back(sections_[i].head.group);
  return groups;
}

const Reader::Section& Reader::section(std::uint32_t group, SectionKind kind) const {
  const auto found = places_.find(group);
  if (found == places_.end()) refuse();
  return sections_[found->second + (kind == SectionKind::kBlocks ? 1 : 0)];
}

void Reader::read_body(std::uint32_t group, SectionKind kind, std::uint64_t most) {
  constexpr std::uint64_t kMostHeads = 256;  // bytes, of the streams
  const Section& one = section(group, kind);
  const std::uint64_t limit = most * kMostNumbers * packing::kLongestVarint + kMostHeads;
  int error = 0;
  if (one.head.size > limit) refuse();  // a hole in the file may be longer
  body_.resize(one.head.size);
  const auto bytes = std::as_writable_bytes(std::span(body_));
  const bool whole = file_.read_at(one.at, bytes, &error) == bytes.size() && error == 0;
  if (!whole || section_check(one.head, body_) != one.head.check) refuse();
  if (!streams_.read(decompressor_, body_, limit)) refuse();
}

Process Reader::process(std::uint32_t group) {
  const std::uint64_t count = section(group, SectionKind::kPaths).head.count;
  read_body(group, SectionKind::kPaths, count + 1);
  ByteReader numbers(streams_.stream(kProcess)), places(streams_.stream(kPlaces)),
      allocated(streams_.stream(kAllocated)), at_peak(streams_.stream(kAtPeak)),
      at_end(streams_.stream(kAtEnd));
  Process process;
  process.group = group;
  process.interval = numbers.varint();
  const std::uint64_t flags = numbers.varint();
  process.exact = (flags & 1) != 0;
  process.each = (flags & 2) != 0;
  process.start_ns = numbers.varint();
  process.live_at_start = numbers.varint();
  for (std::uint64_t i = 0; i < count; ++i) {
    Path path;
    path.parent = defined_number(places);
    path.region = defined_number(places);
    path.own = places.varint() != 0;
    path.allocated = amount_in(allocated);
    path.at_peak = amount_in(at_peak);
    path.at_end = amount_in(at_end);
    const bool known = path.parent == kNone || path.parent < i;
    if (!known || numbers.failed() || places.failed() || allocated.failed() || at_peak.failed() ||
        at_end.failed()) {
      refuse();
    }
    process.paths.push_back(path);
  }
  return process;
}

void Reader::each_block(std::uint32_t group, std::uint64_t paths,
                        const std::function<bool(const Block&)>& take) {
  const std::uint64_t count = section(group, SectionKind::kBlocks).head.count;
  read_body(group, SectionKind::kBlocks, count);
  ByteReader times(streams_.stream(kTimes)), numbers(streams_.stream(kNumbers)),
      bytes(streams_.stream(kBytes)), live(streams_.stream(kLive));
  std::vector<bool> births(count);
  Block block;
  for (std::uint64_t i = 0; i < count; ++i) {
    block.time_ns += unzigzag(times.varint());
    const std::uint64_t number = numbers.varint();
    block.death = (number & 1) != 0;
    block.number = number >> 1;
    block.bytes = block.death ? 0 : bytes.varint();
    block.live += unzigzag(live.varint());
    births[i] = !block.death;
    const bool known =
        block.death ? block.number < i && births[block.number] : block.number < paths;
    if (!known || times.failed() || numbers.failed() || bytes.failed() || live.failed()) refuse();
    if (!take(block)) return;
  }
}

}  // namespace timeloom::memory_file
