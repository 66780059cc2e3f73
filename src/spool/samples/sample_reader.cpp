#include "spool/samples/sample_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "core/samples/estimated_time.hpp"
#include "os/file.hpp"

namespace timeloom::spool {
namespace {

// As they lie in the file: the records of a running process change.
struct StoredSample {
  std::uint64_t ticks, address, weight_ns;
  std::uint32_t region, shape;
};
static_assert(sizeof(StoredSample) == sizeof(SampleRecord));

struct StoredSampleHead {
  std::uint64_t magic;
  std::uint16_t version, reserved;
  std::uint32_t check;
  std::uint64_t period_ns, lost, threads, timers, user_events, unsampled_ns, cut, failure;
};
static_assert(sizeof(StoredSampleHead) == sizeof(SampleHeader));

constexpr std::uint64_t kMostErrors = 4095;  // of errno

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
  data.user_events = std::min(head.user_events, head.threads);
  data.unsampled_ns = head.unsampled_ns;
  data.cut = head.cut;
  data.failure = static_cast<int>(std::min(head.failure, kMostErrors));
  return true;
}

using SampleChunkBytes = std::span<const std::byte, kSampleChunkSize>;

// `at`: where the stack starts; `stack`: the stack before, and then this one.
bool take_stack(SampleChunkBytes bytes, std::size_t at, std::size_t slots,
                std::vector<std::uint32_t>& stack, ThreadSample& sample,
                std::vector<std::uint32_t>& frames) {
  SampleStackHead head{};
  std::memcpy(&head, bytes.data() + at, sizeof head);
  if (head.count > kMostSampledFrames || head.shared > stack.size() ||
      stack_slots(head.count) != slots)
    return false;
  sample.has_stack = true;
  sample.shared = head.shared;
  sample.count = head.count;
  sample.first = frames.size();
  frames.resize(frames.size() + head.count);
  if (head.count != 0) {
    std::memcpy(&frames[sample.first], bytes.data() + at + sizeof head,
                head.count * sizeof(std::uint32_t));
  }
  stack.resize(head.shared);
  stack.insert(stack.end(), frames.begin() + static_cast<std::ptrdiff_t>(sample.first),
               frames.end());
  return true;
}

// The record of a thread with a profile has a place there. Its region is then the innermost one of
// its stack, if it has a stack.
void take_place(std::uint32_t place, std::span<const std::uint32_t> stack, ThreadSample& sample) {
  sample.place = place;
  sample.region = stack.empty() ? kNoSampledRegion : stack.back() & ~kUnrecordedFrame;
}

bool take_samples(SampleChunkBytes bytes, SampleData& data) {
  SampleChunk chunk{};
  std::memcpy(&chunk, bytes.data(), sizeof chunk);
  if (chunk.check == 0) return true;  // not used
  if (chunk.check != sample_chunk_check(chunk.location)) return false;
  std::vector<std::uint32_t> stack;
  for (std::size_t i = 1; i <= kSamplesInChunk; ++i) {
    StoredSample stored{};
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    if (stored.ticks == 0) break;
    const bool same = slots_of(stored.shape) == kSameStack;
    const std::uint32_t slots = same ? 0 : slots_of(stored.shape);
    if (stored.weight_ns > kMostSampleWeight || slots > kSamplesInChunk - i) return false;
    ThreadSample sample{
        {stored.ticks, stored.address, stored.weight_ns, stored.region, line_of(stored.shape)},
        chunk.location};
    const std::size_t behind = (i + 1) * sizeof stored;
    if (slots != 0 && !take_stack(bytes, behind, slots, stack, sample, data.frames)) return false;
    if (same) {
      sample.has_stack = true;
      sample.shared = static_cast<std::uint32_t>(stack.size());
    }
    if (is_sampled_place(stored.region)) {
      const auto now = sample.has_stack ? std::span<const std::uint32_t>(stack)
                                        : std::span<const std::uint32_t>();
      take_place(stored.region & ~kSampledPlace, now, sample);
    }
    data.samples.push_back(sample);
    data.bytes += (1 + slots) * sizeof stored;
    i += slots;
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
  if (!data.frames.empty()) std::ranges::stable_sort(data.samples, {}, &ThreadSample::location);
  return data;
}

}  // namespace timeloom::spool
