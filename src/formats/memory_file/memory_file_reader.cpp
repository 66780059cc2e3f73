#include "formats/memory_file/memory_file_reader.hpp"

#include <string>

#include "core/error.hpp"

namespace timeloom::memory_file {
namespace {

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

[[noreturn]] void refuse(const std::string& why) {
  throw Error("cannot read the memory of the run: " + why + " [TL730]");
}

}  // namespace

Reader::Reader(const std::filesystem::path& path) : file_(path, kMagic, refuse) {
  check_sections();
}

void Reader::check_sections() {
  const std::vector<Section>& sections = file_.sections();
  if (sections.size() % 2 != 0) file_.refuse();
  for (std::size_t i = 0; i < sections.size(); i += 2) {
    const packing::SectionHead &paths = sections[i].head, &blocks = sections[i + 1].head;
    const bool sound = paths.kind == kPaths && paths.detail <= kMostPaths &&
                       blocks.kind == kBlocks && blocks.detail <= kMostBlocks &&
                       paths.number == blocks.number;
    if (!sound || !places_.emplace(paths.number, i).second) file_.refuse();
  }
}

std::vector<std::uint32_t> Reader::groups() const {
  std::vector<std::uint32_t> groups;
  const std::vector<Section>& sections = file_.sections();
  for (std::size_t i = 0; i < sections.size(); i += 2) groups.push_back(sections[i].head.number);
  return groups;
}

const Reader::Section& Reader::section(std::uint32_t group, SectionKind kind) const {
  const auto found = places_.find(group);
  if (found == places_.end()) file_.refuse();
  return file_.sections()[found->second + (kind == kBlocks ? 1 : 0)];
}

const packing::StreamReader& Reader::read(const Section& section) {
  const std::uint64_t most = section.head.detail + 1;  // a process is as large as a path
  return file_.read(section, most * kMostNumbers * packing::kLongestVarint);
}

Process Reader::process(std::uint32_t group) {
  const Section& paths = section(group, kPaths);
  const packing::StreamReader& streams = read(paths);
  ByteReader numbers(streams.stream(kProcess)), places(streams.stream(kPlaces)),
      allocated(streams.stream(kAllocated)), at_peak(streams.stream(kAtPeak)),
      at_end(streams.stream(kAtEnd));
  Process process;
  process.group = group;
  process.interval = numbers.varint();
  const std::uint64_t flags = numbers.varint();
  process.exact = (flags & 1) != 0;
  process.each = (flags & 2) != 0;
  process.start_ns = numbers.varint();
  process.live_at_start = numbers.varint();
  for (std::uint64_t i = 0; i < paths.head.detail; ++i) {
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
      file_.refuse();
    }
    process.paths.push_back(path);
  }
  return process;
}

void Reader::each_block(std::uint32_t group, std::uint64_t paths,
                        const std::function<bool(const Block&)>& take) {
  const Section& blocks = section(group, kBlocks);
  const std::uint64_t count = blocks.head.detail;
  const packing::StreamReader& streams = read(blocks);
  ByteReader times(streams.stream(kTimes)), numbers(streams.stream(kNumbers)),
      bytes(streams.stream(kBytes)), live(streams.stream(kLive));
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
    if (!known || times.failed() || numbers.failed() || bytes.failed() || live.failed())
      file_.refuse();
    if (!take(block)) return;
  }
}

}  // namespace timeloom::memory_file
