#include "spool/samples/sample_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace timeloom::spool {

std::unique_ptr<SampleWriter> SampleWriter::create(const KnownDirectory& spool,
                                                   std::uint64_t period_ns, int* error) noexcept
    try {
  os::File file = spool.create_file(kSampleFile, error);
  if (*error != 0) return nullptr;
  std::unique_ptr<SampleWriter> writer(new SampleWriter(std::move(file)));
  *error = writer->write_head(period_ns);
  if (*error == 0) *error = writer->add_piece();
  if (*error == 0) return writer;
  (void)spool.remove_file(kSampleFile);  // a file without a head would count as damaged
  return nullptr;
} catch (const std::bad_alloc&) {
  *error = ENOMEM;
  return nullptr;
}

int SampleWriter::write_head(std::uint64_t period_ns) noexcept {
  int error = file_.allocate(0, kSampleHeadSize);
  if (error == 0) head_ = os::Mapping::map(file_, 0, kSampleHeadSize, &error);
  if (error != 0) return error;
  auto* const head = new (head_.data()) SampleHeader{};
  head->magic = kSampleMagic;
  head->version = kSampleVersion;
  head->period_ns = period_ns;
  head->check = sample_header_check(head->version, period_ns);
  return 0;
}

int SampleWriter::add_piece() noexcept {
  const std::size_t piece = chunks_ / kChunksInPiece;
  if (piece == kMostPieces) return ENOSPC;
  const std::uint64_t offset = kSampleHeadSize + piece * kPieceSize;
  int error = file_.allocate(offset, kPieceSize);
  if (error == 0) pieces_[piece] = os::Mapping::map(file_, offset, kPieceSize, &error);
  if (error == 0) chunks_.fetch_add(kChunksInPiece, std::memory_order_release);
  return error;
}

void SampleWriter::grow() noexcept {
  const std::size_t next = next_chunk_.load();
  const std::size_t wanted = std::max(2 * (next - std::min(next, seen_)), kChunksInPiece / 2);
  seen_ = next;
  while (chunks_ - next < wanted && add_piece() == 0) {
  }
}

bool SampleWriter::take_chunk(Place& place, std::uint32_t location) noexcept {
  std::size_t number = next_chunk_.load();
  do {
    if (number >= chunks_.load(std::memory_order_acquire)) return false;
  } while (!next_chunk_.compare_exchange_weak(number, number + 1));
  std::byte* const at =
      pieces_[number / kChunksInPiece].data() + number % kChunksInPiece * kSampleChunkSize;
  auto* const chunk = reinterpret_cast<SampleChunk*>(at);
  chunk->location = location;
  __atomic_store_n(&chunk->check, sample_chunk_check(location), __ATOMIC_RELEASE);
  place.next = reinterpret_cast<SampleRecord*>(at) + 1;
  place.end = place.next + kSamplesInChunk;
  place.depth = 0;
  return true;
}

namespace {

void put_stack(SampleRecord* place, const SampledStack& stack, std::size_t shared) noexcept {
  const auto added = stack.frames.subspan(shared);
  const SampleStackHead head{static_cast<std::uint32_t>(shared),
                             static_cast<std::uint32_t>(added.size())};
  auto* const bytes = reinterpret_cast<std::byte*>(place);
  std::memcpy(bytes, &head, sizeof head);
  if (!added.empty()) std::memcpy(bytes + sizeof head, added.data(), added.size_bytes());
}

}  // namespace

bool SampleWriter::put(Place& place, std::uint32_t location, const Sample& sample,
                       const SampledStack* stack) noexcept {
  const std::size_t depth = stack == nullptr ? 0 : stack->frames.size();
  std::size_t shared = stack == nullptr ? 0 : stack->shared;
  bool same = depth != 0 && shared == depth && place.depth == depth;
  std::size_t slots = stack == nullptr || same ? 0 : stack_slots(depth - shared);
  if (static_cast<std::size_t>(place.end - place.next) < 1 + slots) {
    if (!take_chunk(place, location)) {
      header().lost.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    shared = 0;
    same = false;
    if (stack != nullptr) slots = stack_slots(depth);
  }
  SampleRecord& record = *place.next;
  if (slots != 0) put_stack(place.next + 1, *stack, shared);
  place.next += 1 + slots;
  place.depth = depth;
  record.address = sample.address;
  record.weight_ns = sample.weight_ns;
  record.region = sample.place != 0 ? sample.place | kSampledPlace : sample.region;
  record.shape = sample_shape(same ? kSameStack : static_cast<std::uint32_t>(slots), sample.line);
  record.ticks.store(std::max<std::uint64_t>(sample.ticks, 1), std::memory_order_release);
  return true;
}

void SampleWriter::count_timer() noexcept {
  header().timers.fetch_add(1, std::memory_order_relaxed);
}

void SampleWriter::count_cut() noexcept { header().cut.fetch_add(1, std::memory_order_relaxed); }

void SampleWriter::note_failure(int error) noexcept {
  if (header().failure.load() == 0) header().failure = static_cast<std::uint64_t>(error);
}

bool SampleWriter::is_short() const noexcept {
  return next_chunk_.load(std::memory_order_relaxed) + kChunksInPiece / 4 >=
         chunks_.load(std::memory_order_relaxed);
}

void SampleWriter::add_unsampled(std::uint64_t ns) noexcept {
  header().unsampled_ns.fetch_add(ns, std::memory_order_relaxed);
}

void SampleWriter::count_thread(SampleClock clock) noexcept {
  header().threads.fetch_add(1, std::memory_order_relaxed);
  if (clock == SampleClock::kTimer) count_timer();
  if (clock == SampleClock::kUserEvent)
    header().user_events.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace timeloom::spool
