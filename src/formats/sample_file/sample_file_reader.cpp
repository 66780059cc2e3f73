#include "formats/sample_file/sample_file_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace timeloom::sample_file {
namespace {

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

[[noreturn]] void refuse(const std::string& why) {
  throw Error("cannot read the samples of the run: " + why + " [TL171]");
}

}  // namespace

Reader::Reader(const std::filesystem::path& path) : file_(path, kMagic, refuse) {
  check_sections();
  read_tables();
}

Reader::Reader(os::File file) : file_(std::move(file), "the samples so far", kMagic, refuse) {
  check_sections();
  read_tables();
}

void Reader::check_sections() const {
  if (file_.sections().empty()) file_.refuse();
  std::uint32_t wanted = kTables;
  for (const Section& section : file_.sections()) {
    if (section.head.kind != wanted || section.head.number > kSamplesOfSection) file_.refuse();
    wanted = kSamples;
  }
}

void Reader::read_tables() {
  const packing::StreamReader& tables = file_.read(file_.sections().front(), kMostTableBytes);
  read_functions(tables);
  read_codes(tables);
  read_frames(tables);
}

void Reader::read_functions(const packing::StreamReader& tables) {
  ByteReader numbers(tables.stream(kFunctions)), texts(tables.stream(kFunctionTexts));
  while (!numbers.at_end()) {
    Function& function = functions_.emplace_back();
    function.region = small_number(numbers);
    function.line = small_number(numbers);
    function.name = text_in(numbers, texts);
    function.file = text_in(numbers, texts);
    if (numbers.failed() || texts.failed()) file_.refuse();
  }
  if (!std::ranges::is_sorted(functions_, {}, &Function::region)) file_.refuse();
}

void Reader::read_codes(const packing::StreamReader& tables) {
  ByteReader numbers(tables.stream(kCodes)), texts(tables.stream(kCodeTexts));
  while (!numbers.at_end()) {
    Code& code = codes_.emplace_back();
    code.library = text_in(numbers, texts);
    code.symbol = text_in(numbers, texts);
    if (numbers.failed() || texts.failed()) file_.refuse();
  }
}

void Reader::read_frames(const packing::StreamReader& tables) {
  ByteReader numbers(tables.stream(kFrames));
  while (!numbers.at_end()) {
    const std::uint32_t outer = defined_number(numbers);
    const std::uint64_t marked = numbers.varint();
    const bool known = outer == kNone || outer < frames_.size();
    const auto region = static_cast<std::uint32_t>(marked >> 1);
    if (numbers.failed() || !known || function(region) == nullptr) file_.refuse();
    frames_.push_back({outer, region, (marked & 1) != 0});
  }
}

const Function* Reader::function(std::uint32_t region) const noexcept {
  const auto found = std::ranges::lower_bound(functions_, region, {}, &Function::region);
  return found == functions_.end() || found->region != region ? nullptr : &*found;
}

void Reader::each(const Wanted& wanted, const Take& take) {
  for (const Section& section : file_.sections()) {
    const bool chosen = section.head.kind == kSamples && wanted(LocationId{section.head.detail});
    if (chosen) take_samples(section, take);
  }
}

void Reader::take_samples(const Section& section, const Take& take) {
  const packing::StreamReader& streams = file_.read(section, kMostSampleBytes);
  ByteReader times(streams.stream(kTimes)), weights(streams.stream(kWeights)),
      regions(streams.stream(kRegions)), codes(streams.stream(kCodeNumbers)),
      lines(streams.stream(kLines)), stacks(streams.stream(kStacks));
  Sample sample;
  for (std::uint32_t left = section.head.number; left != 0; --left) {
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
    if (failed || !known) file_.refuse();
    take(LocationId{section.head.detail}, sample);
  }
}

}  // namespace timeloom::sample_file
