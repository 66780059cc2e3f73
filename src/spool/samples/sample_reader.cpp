#include "spool/samples/sample_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "os/file.hpp"

namespace timeloom::spool {
namespace {

// As they lie in the file: the records of a running process change.
struct StoredSample {
  std::uint64_t ticks, address, weight_ns;
  std::uint32_t region, reserved;
};
static_assert(sizeof(StoredSample) == sizeof(SampleRecord));

struct StoredSampleHead {
  std::uint64_t magic;
  std::uint16_t version, reserved;
  std::uint32_t check;
  std::uint64_t period_ns, lost, threads, timers;
};
static_assert(sizeof(StoredSampleHead) == sizeof(SampleHeader));

// A day: longer than any thread can compute between two samples.
constexpr std::uint64_t kMostSampleWeight = std::uint64_t{86'400} * 1'000'000'000;

bool read_head(const os::File& file, SampleData& data) {
  StoredSampleHead head{};
  int error = 0;
  const auto bytes = std::as_writable_bytes(std::span(&head, 1));
  if (file.read_at(0, bytes, &error) != bytes.size() || error != 0) return false;
  const bool sound = head.magic == kSampleMagic && head.version == kSampleVersion &&
                     head.check == sample_header_check(head.version, head.period_ns) &&
                     head.period_ns != 0;
  if (!sound) return false;
  data.period_ns = head.period_ns;
  data.lost = head.lost;
  data.threads = head.threads;
  data.timers = std::min(head.timers, head.threads);
  return true;
}

bool take_samples(std::span<const std::byte, kSampleChunkSize> bytes, SampleData& data) {
  SampleChunk chunk{};
  std::memcpy(&chunk, bytes.data(), sizeof chunk);
  if (chunk.check == 0) return true;  // not used
  if (chunk.check != sample_chunk_check(chunk.location)) return false;
  for (std::size_t i = 1; i <= kSamplesInChunk; ++i) {
    StoredSample stored{};
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    if (stored.ticks == 0) break;
    if (stored.weight_ns > kMostSampleWeight) return false;
    data.samples.push_back(
        {{stored.ticks, stored.address, stored.weight_ns, stored.region}, chunk.location});
  }
  return true;
}

}  // namespace

SampleData read_samples(const SpoolDirectory& directory) {
  SampleData data;
  int error = 0;
  const os::File file = directory.open(kSampleFile, &error);
  if (error != 0) return data;
  const std::uint64_t size = std::min(file.size(&error), kSampleHeadSize + kMostSampleBytes);
  data.damaged = !read_head(file, data);
  std::array<std::byte, kSampleChunkSize> bytes{};
  for (std::uint64_t at = kSampleHeadSize; !data.damaged && at + bytes.size() <= size;
       at += bytes.size()) {
    if (file.read_at(at, bytes, &error) != bytes.size() || error != 0) {
      data.damaged = true;
    } else if (!take_samples(bytes, data)) {
      data.damaged = true;
    }
  }
  return data;
}

}  // namespace timeloom::spool
