#include "gpu/cuda/records.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "gpu/cuda/call_names.hpp"
#include "record/auxiliary_file.hpp"
#include "record/measurement.hpp"

namespace timeloom::cuda {
namespace {

using spool::GpuCopy;
using spool::GpuMemory;
using spool::GpuRecord;
using spool::GpuRecordKind;
using spool::GpuWait;

constexpr std::size_t kMostFunctions = 1 << 16;
constexpr std::size_t kMostRangeNames = 10'000;  // programs put numbers into them

GpuCopy direction_of(MemcpyKind kind) noexcept {
  switch (kind) {
    case MemcpyKind::kHostToDevice: return GpuCopy::kHostToDevice;
    case MemcpyKind::kDeviceToHost: return GpuCopy::kDeviceToHost;
    case MemcpyKind::kDeviceToDevice: return GpuCopy::kDeviceToDevice;
    case MemcpyKind::kHostToHost: return GpuCopy::kHostToHost;
    case MemcpyKind::kPeerToPeer: return GpuCopy::kPeerToPeer;
  }
  return GpuCopy::kOther;
}

// As NVML names a device: "GPU-00112233-4455-6677-8899-aabbccddeeff".
std::string uuid_text(const char* kind, const std::uint8_t (&uuid)[16]) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = kind;
  for (std::size_t i = 0; i < sizeof uuid; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid[i] >> 4];
    text += kDigits[uuid[i] & 0xf];
  }
  return text;
}

// The spool has CUPTI's numbers of the kinds.
GpuWait wait_kind(std::uint32_t type) noexcept {
  return type <= static_cast<std::uint32_t>(GpuWait::kForContext) ? static_cast<GpuWait>(type)
                                                                  : GpuWait::kOther;
}

GpuMemory memory_kind(std::uint32_t kind) noexcept {
  switch (kind) {
    case kPinnedMemory: return GpuMemory::kHost;
    case kDeviceMemory: return GpuMemory::kDevice;
    case kManagedMemory: return GpuMemory::kManaged;
    default: return GpuMemory::kOther;
  }
}

}  // namespace

// Opens a writer for the current measurement; false: there is none.
bool Records::open() {
  const std::uint32_t number = record::measurement_number();
  if (writer_ != nullptr && measurement_ == number) return true;
  if (ended_ && measurement_ == number) return false;
  writer_.reset();
  for (auto& calls : calls_) calls.clear();
  for (auto& [id, device] : devices_) device.used = device.returned = false;
  last_queue_place_ = last_thread_place_ = UINT32_MAX;
  const KnownDirectory spool = record::running_spool();
  if (spool.path().empty()) return false;
  int error = 0;
  writer_ = spool::GpuWriter::create(spool, &error, record::packs_early());
  // The logs get the other half.
  if (const std::uint64_t most = record::most_bytes(); writer_ != nullptr && most != 0) {
    writer_->limit(most / 2);
  }
  measurement_ = number;
  ended_ = writer_ == nullptr;
  if (ended_)
    std::fprintf(stderr, "timeloom: the GPU is not recorded: %s [TL025]\n", std::strerror(error));
  return !ended_;
}

// The measurement counts the records that a full disk keeps out of the file.
void Records::flush() {
  const bool works = writer_->error() == 0;
  if (const std::uint64_t lost = writer_->flush(); lost != 0) record::count_lost(lost);
  if (!works || writer_->error() == 0) return;
  const int error = writer_->error();
  std::fprintf(
      stderr, "timeloom: records of the GPU are lost: %s [TL029]\n",
      error == EFBIG ? "they fill half of the size limit (--max-size)" : std::strerror(error));
}

void Records::take(std::uint8_t* buffer, std::size_t valid, std::uint64_t dropped) {
  if (!open()) return;
  writer_->add_lost(dropped);
  Activity* record = nullptr;
  while (functions_.next_record(buffer, valid, &record) == kSuccess) add(*record);
  flush();
}

void Records::add_range(const Range& range) {
  if (!open()) return;
  const bool full = writer_->texts() >= kMostRangeNames;
  const bool kept = !full || writer_->has_text(range.name);
  const std::uint32_t name = writer_->text(kept ? range.name : "(other ranges)");
  const std::uint32_t label = full ? 0 : writer_->label(range.domain, range.category);
  writer_->add({range.start, range.end, writer_->thread(range.thread), label,
                GpuRecord::word(GpuRecordKind::kRange, name)});
  flush_if_due(range.end);
}

void Records::add_counter(std::uint32_t device, spool::GpuCounter counter, std::uint64_t ticks,
                          std::uint64_t value) {
  if (!open()) return;
  const auto detail = static_cast<std::uint8_t>(counter);
  writer_->add({ticks, 0, writer_->device_place(device), 0,
                GpuRecord::word(GpuRecordKind::kCounter, value, detail)});
  flush_if_due(ticks);
}

void Records::flush_if_due(std::uint64_t ticks) {
  constexpr std::uint64_t kPause = 250'000'000;
  if (clock_.nanoseconds(ticks) - clock_.nanoseconds(flushed_) < kPause) return;
  flushed_ = ticks;
  flush();
}

std::vector<Records::Device> Records::new_devices() {
  std::vector<Device> devices;
  for (auto& [id, device] : devices_) {
    if (!device.used || device.returned || device.uuid.empty()) continue;
    devices.push_back({id, device.uuid});
    device.returned = true;
  }
  return devices;
}

void Records::leave() {
  if (!open()) return;
  writer_->leave(os::now());
  flush();
}

void Records::end() noexcept {
  try {
    if (writer_ != nullptr) flush();
  } catch (const std::exception&) {  // no memory
  }
  writer_.reset();
  measurement_ = record::measurement_number();
  ended_ = true;
}

void Records::add(const Activity& record) {
  switch (record.kind) {
    case ActivityKind::kDriver:
    case ActivityKind::kRuntime: return add(reinterpret_cast<const ActivityApi&>(record));
    case ActivityKind::kKernel:
    case ActivityKind::kConcurrentKernel:
      return add(reinterpret_cast<const ActivityKernel&>(record));
    case ActivityKind::kMemcpy: return add_copy(reinterpret_cast<const ActivityMemcpy&>(record));
    case ActivityKind::kMemcpyPeer:
      return add_copy(reinterpret_cast<const ActivityMemcpyPeer&>(record));
    case ActivityKind::kMemset: return add(reinterpret_cast<const ActivityMemset&>(record));
    case ActivityKind::kSynchronization:
      return add(reinterpret_cast<const ActivitySynchronization&>(record));
    case ActivityKind::kEvent: return add(reinterpret_cast<const ActivityEvent&>(record));
    case ActivityKind::kMemory: return add(reinterpret_cast<const ActivityMemory&>(record));
    case ActivityKind::kDevice: return add(reinterpret_cast<const ActivityDevice&>(record));
  }
}

void Records::add(const ActivityDevice& device) {
  const bool whole = device.mig != 1;
  devices_[device.id].uuid =
      whole ? uuid_text("GPU", device.uuid) : uuid_text("MIG", device.mig_uuid);
  writer_->device(device.id, device.name == nullptr ? "" : device.name, device.memory);
}

const Records::Call& Records::call_of(const ActivityApi& call) {
  static constexpr Call kNone{true, false, 0};
  const bool driver = call.kind == ActivityKind::kDriver;
  std::vector<Call>& calls = calls_[driver ? 0 : 1];
  if (call.function >= kMostFunctions) return kNone;
  if (call.function >= calls.size()) calls.resize(call.function + 1);
  Call& known = calls[call.function];
  if (known.known) return known;
  known.known = true;
  const char* name = nullptr;
  const CallbackDomain domain = driver ? CallbackDomain::kDriver : CallbackDomain::kRuntime;
  if (functions_.call_name(domain, call.function, &name) != kSuccess || name == nullptr) {
    return known;
  }
  known.wanted = is_recorded(name);
  if (known.wanted) known.text = writer_->text(call_name(name));
  return known;
}

std::uint32_t Records::place_of(const ActivityApi& call) {
  if (last_thread_place_ != UINT32_MAX && call.thread == last_thread_ &&
      call.start >= last_thread_since_ && call.start - last_thread_since_ < 1'000'000) {
    return last_thread_place_;
  }
  last_thread_ = call.thread;
  last_thread_since_ = call.start;
  return last_thread_place_ = writer_->thread(threads_.find(call.thread, call.start));
}

void Records::add(const ActivityApi& call) {
  const Call& known = call_of(call);
  if (!known.wanted || call.end == 0) return;
  writer_->add({clock_.ticks(call.start), clock_.ticks(call.end), place_of(call), call.correlation,
                GpuRecord::word(GpuRecordKind::kCall, known.text)});
}

std::uint32_t Records::place_of(const Queue& queue) {
  if (last_queue_place_ == UINT32_MAX || queue != last_queue_) {
    last_queue_ = queue;
    last_queue_place_ = writer_->queue(queue.device, queue.context, queue.stream);
    if (queue.device != spool::kGpuNone) devices_[queue.device].used = true;
  }
  return last_queue_place_;
}

template <typename Work>
void Records::add_work(const Work& work, std::uint64_t what) {
  if (work.start == 0) return writer_->add_lost(1);  // delivered before it started
  const Queue queue{work.device, work.context, work.stream};
  writer_->add(
      {clock_.ticks(work.start), clock_.ticks(work.end), place_of(queue), work.correlation, what});
}

void Records::add(const ActivityKernel& kernel) {
  const spool::GpuLaunch launch{0,
                                0,
                                {kernel.grid[0], kernel.grid[1], kernel.grid[2]},
                                {kernel.block[0], kernel.block[1], kernel.block[2]},
                                kernel.registers,
                                kernel.static_shared,
                                kernel.dynamic_shared,
                                kernel.graph};
  const std::uint32_t id = writer_->launch(kernel.name == nullptr ? "" : kernel.name, launch);
  add_work(kernel, GpuRecord::word(GpuRecordKind::kKernel, id));
}

template <typename Copy>
void Records::add_copy(const Copy& copy) {
  auto detail = static_cast<std::uint8_t>(direction_of(copy.copy));
  const auto touches = [&](std::uint8_t memory) {
    return copy.source == memory || copy.target == memory;
  };
  if (touches(kPageableMemory)) detail |= spool::kGpuPageable;
  if (touches(kPinnedMemory)) detail |= spool::kGpuPinned;
  add_work(copy, GpuRecord::word(GpuRecordKind::kCopy, copy.bytes, detail));
}

void Records::add(const ActivityMemset& set) {
  add_work(set, GpuRecord::word(GpuRecordKind::kSet, set.bytes));
}

// The records of waits and events do not name the device; contexts are unique in a process.
void Records::add(const ActivitySynchronization& wait) {
  const auto kind = static_cast<std::uint8_t>(wait_kind(wait.type));
  writer_->add({clock_.ticks(wait.start), clock_.ticks(wait.end),
                place_of(Queue{spool::kGpuNone, wait.context, wait.stream}), wait.correlation,
                GpuRecord::word(GpuRecordKind::kWait, wait.event, kind)});
}

void Records::add(const ActivityEvent& event) {
  writer_->add({0, 0, place_of(Queue{spool::kGpuNone, event.context, event.stream}),
                event.correlation, GpuRecord::word(GpuRecordKind::kEvent, event.event)});
}

void Records::add(const ActivityMemory& memory) {
  const bool release = memory.operation == kRelease;
  if (!release && memory.operation != kAllocation) return;
  const GpuRecordKind kind = release ? GpuRecordKind::kRelease : GpuRecordKind::kAllocate;
  writer_->add(
      {clock_.ticks(memory.time), memory.address,
       place_of(Queue{memory.device, memory.context, spool::kGpuNone}), memory.correlation,
       GpuRecord::word(kind, memory.bytes, static_cast<std::uint8_t>(memory_kind(memory.memory)))});
}

}  // namespace timeloom::cuda
