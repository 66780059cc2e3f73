// Waits for GPUs and memory of devices, from the records of the file `gpu`.
#include <gtest/gtest.h>

#include "weave/gpu/gpu_counters.hpp"
#include "weave/gpu/gpu_memory.hpp"
#include "weave/gpu/gpu_waits.hpp"

namespace timeloom::weave {
namespace {

using spool::GpuData;
using spool::GpuMemory;
using spool::GpuPlaceKind;
using spool::GpuRecord;
using spool::GpuRecordKind;
using spool::GpuWait;
using spool::kGpuNone;

// Places: a thread, two queues of device 2 and context 1, the queues as waits and events name
// them, all of the context, and a context that no work names.
GpuData places() {
  GpuData data;
  const auto add = [&](GpuPlaceKind kind, std::uint32_t device, std::uint32_t context,
                       std::uint64_t queue) {
    data.places.push_back(
        {static_cast<std::uint32_t>(data.places.size()), kind, 0, device, context, queue});
  };
  add(GpuPlaceKind::kThread, 0, 0, 0);
  add(GpuPlaceKind::kQueue, 2, 1, 7);
  add(GpuPlaceKind::kQueue, kGpuNone, 1, 7);
  add(GpuPlaceKind::kQueue, kGpuNone, 1, 8);
  add(GpuPlaceKind::kQueue, kGpuNone, 1, kGpuNone);
  add(GpuPlaceKind::kQueue, kGpuNone, 5, kGpuNone);
  add(GpuPlaceKind::kQueue, 3, 6, kGpuNone);
  return data;
}

GpuRecord call(std::uint64_t start, std::uint32_t correlation) {
  return {start, start + 100, 0, correlation, GpuRecord::word(GpuRecordKind::kCall, 0)};
}
GpuRecord wait(std::uint64_t start, std::uint32_t place, std::uint32_t correlation, GpuWait kind,
               std::uint64_t event = kGpuNone) {
  const auto detail = static_cast<std::uint8_t>(kind);
  return {start, start + 60, place, correlation,
          GpuRecord::word(GpuRecordKind::kWait, event, detail)};
}
GpuRecord event(std::uint32_t place, std::uint32_t correlation, std::uint64_t number) {
  return {0, 0, place, correlation, GpuRecord::word(GpuRecordKind::kEvent, number)};
}

GpuCallRecords calls_of(const GpuData& data) {
  GpuCallRecords calls;
  for (const GpuRecord& record : data.records) {
    if (record.kind() == GpuRecordKind::kCall) calls.try_emplace(record.correlation, &record);
  }
  return calls;
}

TEST(GpuWaits, NameWhatTheyWaitFor) {
  GpuData data = places();
  for (std::uint32_t i = 1; i <= 7; ++i) data.records.push_back(call(1000 * i, i));
  data.records.push_back(event(2, 1, 30));  // by the first call
  data.records.push_back(event(3, 4, 30));  // by the fourth
  data.records.push_back(wait(2010, 4, 2, GpuWait::kForEvent, 30));
  data.records.push_back(wait(3010, 2, 3, GpuWait::kForQueue));
  data.records.push_back(wait(5010, 2, 5, GpuWait::kOfQueue, 30));
  data.records.push_back(wait(6010, 4, 6, GpuWait::kForContext));
  data.records.push_back(wait(7010, 5, 7, GpuWait::kForContext));
  data.records.push_back(wait(9010, 5, 99, GpuWait::kForContext));
  const GpuWaits waits(data, calls_of(data));
  const auto text = [&](std::uint32_t correlation) {
    const GpuWaitOfCall* const of = waits.of(correlation);
    return of == nullptr ? "nothing" : of->what + " " + std::to_string(of->ticks);
  };
  EXPECT_EQ(text(1), "nothing");
  EXPECT_EQ(text(2), "an event in CUDA[2:7] 60");
  EXPECT_EQ(text(3), "CUDA[2:7] 60");
  EXPECT_EQ(text(5), "an event in CUDA[2:8] 0");  // the queue waits, and not the thread
  EXPECT_EQ(text(6), "all streams of CUDA[2] 60");
  EXPECT_EQ(text(7), "all streams 60");
  EXPECT_EQ(waits.lost(), 1u);
}

TEST(GpuWaits, ForEventsThatAreNotKnown) {
  GpuData data = places();
  data.records = {call(1000, 1),
                  call(2000, 2),
                  call(3000, 3),
                  event(2, 3, 30),
                  wait(1010, 4, 1, GpuWait::kForEvent, 31),
                  wait(2010, 4, 2, GpuWait::kForEvent, 30)};  // before it is in a queue
  const GpuWaits waits(data, calls_of(data));
  EXPECT_EQ(waits.of(1)->what, "an event");
  EXPECT_EQ(waits.of(2)->what, "an event");
}

GpuRecord memory(GpuRecordKind kind, std::uint64_t time, std::uint64_t address, std::uint64_t bytes,
                 std::uint32_t correlation, std::uint32_t place = 1,
                 GpuMemory of = GpuMemory::kDevice) {
  return {time, address, place, correlation,
          GpuRecord::word(kind, bytes, static_cast<std::uint8_t>(of))};
}

constexpr auto kAllocate = GpuRecordKind::kAllocate;
constexpr auto kRelease = GpuRecordKind::kRelease;

TEST(GpuMemory, HasThePeakOfEachDevice) {
  GpuData data = places();
  // Not in order. The peak is after the third call: the blocks of the first and the third.
  data.records = {memory(kAllocate, 30, 0x300, 500, 3),
                  memory(kAllocate, 10, 0x100, 100, 1),
                  memory(kRelease, 40, 0x100, 0, 4),
                  memory(kAllocate, 20, 0x200, 50, 2),
                  memory(kRelease, 25, 0x200, 50, 5),
                  memory(kAllocate, 50, 0x100, 90, 6),
                  memory(kAllocate, 60, 0x100, 7, 7, 6),
                  memory(kAllocate, 70, 0x900, 1 << 20, 8, 1, GpuMemory::kHost),
                  memory(kRelease, 80, 0x777, 10, 9)};
  const GpuMemoryUse use(data);
  const auto text = [&](std::uint32_t correlation) {
    const GpuMemoryOfCall* const of = use.of(correlation);
    if (of == nullptr) return std::string("nothing");
    return std::to_string(of->held) + " " + std::to_string(of->allocated) + " " +
           std::to_string(of->at_peak) + " " + std::to_string(of->at_end);
  };
  EXPECT_EQ(text(1), "100 100 100 0");
  EXPECT_EQ(text(2), "150 50 0 0");
  EXPECT_EQ(text(3), "600 500 500 500");
  EXPECT_EQ(text(4), "500 0 0 0");
  EXPECT_EQ(text(5), "100 0 0 0");
  EXPECT_EQ(text(6), "590 90 0 90");
  EXPECT_EQ(text(7), "7 7 7 7");
  EXPECT_EQ(text(8), "nothing");
  EXPECT_EQ(text(9), "590 0 0 0");  // a block from before the recording
  EXPECT_EQ(use.peaks(), (std::map<std::uint32_t, std::uint64_t>{{2, 600}, {3, 7}}));
}

TEST(GpuCounters, AreEventsOfEachDeviceInOrder) {
  GpuData data;
  for (const std::uint32_t device : {5u, 2u}) {
    const auto id = static_cast<std::uint32_t>(data.places.size());
    data.places.push_back({id, GpuPlaceKind::kDevice, 0, device, 0, 0});
  }
  const auto add = [&](std::uint64_t ticks, std::uint32_t place, spool::GpuCounter counter,
                       std::uint64_t value) {
    const auto detail = static_cast<std::uint8_t>(counter);
    data.records.push_back(
        {ticks, 0, place, 0, GpuRecord::word(GpuRecordKind::kCounter, value, detail)});
  };
  add(20, 0, spool::GpuCounter::kPower, 300);
  add(10, 0, spool::GpuCounter::kPower, 500);
  add(10, 1, spool::GpuCounter::kUse, 7);
  add(30, 0, spool::GpuCounter::kMemory, 0);
  data.records.push_back(call(5, 1));
  const auto devices = device_counters(
      data, [](std::uint64_t ticks) { return Timestamp{2 * ticks}; },
      [](const GpuCounterMetric& metric) {
        return static_cast<std::uint32_t>(&metric - kGpuCounterMetrics.data());
      });
  std::string text;
  for (const GpuDeviceCounters& device : devices) {
    text += "device " + std::to_string(device.device);
    for (const Event& event : device.events) {
      text += ", " + std::to_string(ticks(event.time)) + " " + std::to_string(event.ref) + " " +
              std::to_string(event.value);
    }
    text += ";";
  }
  EXPECT_EQ(text, "device 2, 20 0 7;device 5, 20 3 500, 40 3 300, 60 2 0;");
  const GpuCounterSum& power = devices[1].sums[3];
  EXPECT_EQ((std::array{power.values, power.sum, power.most}),
            (std::array<std::uint64_t, 3>{2, 800, 500}));
  EXPECT_EQ(devices[0].sums[3].values, 0u);
}

// The release of the first block was lost.
TEST(GpuMemory, OfAnAddressIsOneBlock) {
  GpuData data = places();
  data.records = {memory(kAllocate, 10, 0x100, 100, 1), memory(kAllocate, 20, 0x100, 30, 2)};
  const GpuMemoryUse use(data);
  EXPECT_EQ(use.of(1)->at_end, 0u);
  EXPECT_EQ(use.of(2)->held, 30u);
  EXPECT_EQ(use.peaks().at(2), 100u);
}

}  // namespace
}  // namespace timeloom::weave
