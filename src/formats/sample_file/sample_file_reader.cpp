#include "formats/sample_file/sample_file_reader.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <system_error>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"

namespace timeloom::sample_file {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

using packing::ByteReader;
using packing::unzigzag;

constexpr std::uint64_t kMostSampleBytes = 6 * packing::kLongestVarint * kSamplesOfSection;

// A number of 32 bits.
std::uint32_t small_number(ByteReader& reader) noexcept {
  const std::uint64_t number = reader.varint();
  if (number > UINT32_MAX) reader.fail();
  return static_cast<std::uint32_t>(number);
}

std::uint32_t defined_number(ByteReader& reader) noexcept {
  return static_cast<std::uint32_t>(small_number(reader) - 1);
}

std::string text_in(ByteReader& sizes, ByteReader& texts) {
  const packing::ByteSpan bytes = texts.bytes(sizes.varint());
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::uint64_t section_check(const SectionHead& head, packing::ByteSpan body) noexcept {
  const auto bytes = std::as_bytes(body);
  std::uint64_t check = mix(kMagic, static_cast<std::uint64_t>(head.kind));
  for (const std::uint64_t part : {std::uint64_t{head.count}, head.location, head.size}) {
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
                " [TL171]");
  }
  find_sections();
  read_tables();
}

void Reader::refuse() const {
  throw Error(path_.filename().string() +
              " is damaged or of another version; weave the run again, or remove the file: " +
              path_.string() + " [TL171]");
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
    if (head.size > size_ - at || head.count > kSamplesOfSection) refuse();
    ended = head.kind == SectionKind::kEnd;
    if (ended && (head.count != sections_.size() || head.size != 0 ||
                  head.check != section_check(head, {}))) {
      refuse();
    }
    const SectionKind wanted = sections_.empty() ? SectionKind::kTables : SectionKind::kSamples;
    if (!ended && head.kind != wanted) refuse();
    if (!ended) sections_.push_back({head, at});
    at += head.size;
  }
  if (at != size_) refuse();
}

void Reader::read_body(const Section& section, std::uint64_t most) {
  constexpr std::uint64_t kMostHeads = 256;  // bytes, of the streams
  int error = 0;
  if (section.head.size > most + kMostHeads) refuse();  // a hole in the file may be longer
  body_.resize(section.head.size);
  const auto bytes = std::as_writable_bytes(std::span(body_));
  const bool whole = file_.read_at(section.at, bytes, &error) == bytes.size() && error == 0;
  if (!whole || section_check(section.head, body_) != section.head.check) refuse();
  if (!streams_.read(decompressor_, body_, most)) refuse();
}

void Reader::read_tables() {
  if (sections_.empty()) refuse();
  read_body(sections_.front(), kMostTableBytes);
  read_functions();
  read_codes();
  read_frames();
}

void Reader::read_functions() {
  ByteReader numbers(streams_.stream(kFunctions)), texts(streams_.stream(kFunctionTexts));
  while (!numbers.at_end()) {
    Function& function = functions_.emplace_back();
    function.region = small_number(numbers);
    function.line = small_number(numbers);
    function.name = text_in(numbers, texts);
    function.file = text_in(numbers, texts);
    if (numbers.failed() || texts.failed()) refuse();
  }
  if (!std::ranges::is_sorted(functions_, {}, &Function::region)) refuse();
}

void Reader::read_codes() {
  ByteReader numbers(streams_.stream(kCodes)), texts(streams_.stream(kCodeTexts));
  while (!numbers.at_end()) {
    Code& code = codes_.emplace_back();
    code.library = text_in(numbers, texts);
    code.symbol = text_in(numbers, texts);
    if (numbers.failed() || texts.failed()) refuse();
  }
}

void Reader::read_frames() {
  ByteReader numbers(streams_.stream(kFrames));
  while (!numbers.at_end()) {
    const std::uint32_t outer = defined_number(numbers);
    const std::uint64_t marked = numbers.varint();
    const bool known = outer == kNone || outer < frames_.size();
    const auto region = static_cast<std::uint32_t>(marked >> 1);
    if (numbers.failed() || !known || function(region) == nullptr) refuse();
    frames_.push_back({outer, region, (marked & 1) != 0});
  }
}

const Function* Reader::function(std::uint32_t region) const noexcept {
  const auto found = std::ranges::lower_bound(functions_, region, {}, &Function::region);
  return found == functions_.end() || found->region != region ? nullptr : &*found;
}

void Reader::each(const Wanted& wanted, const Take& take) {
  for (const Section& section : sections_) {
    const bool chosen =
        section.head.kind == SectionKind::kSamples && wanted(LocationId{section.head.location});
    if (chosen) take_samples(section, take);
  }
}

void Reader::take_samples(const Section& section, const Take& take) {
  read_body(section, kMostSampleBytes);
  ByteReader times(streams_.stream(kTimes)), weights(streams_.stream(kWeights)),
      regions(streams_.stream(kRegions)), codes(streams_.stream(kCodeNumbers)),
      lines(streams_.stream(kLines)), stacks(streams_.stream(kStacks));
  Sample sample;
  for (std::uint32_t left = section.head.count; left != 0; --left) {
    sample.time_ns += unzigzag(times.varint());
    sample.weight_ns = weights.varint();
    sample.region = defined_number(regions);
    sample.code = defined_number(codes);
    sample.line += static_cast<std::uint32_t>(unzigzag(lines.varint()));
    sample.stack = defined_number(stacks);
    const bool failed = times.failed() || weights.failed() || regions.failed() || codes.failed() ||
                        lines.failed() || stacks.failed();
    const bool known = (sample.region == kNone || function(sample.region) != nullptr) &&
                       (sample.code == kNone || sample.code < codes_.size()) &&
                       (sample.stack == kNone || sample.stack < frames_.size());
    if (failed || !known) refuse();
    take(LocationId{section.head.location}, sample);
  }
}

}  // namespace timeloom::sample_file
