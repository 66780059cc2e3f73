// The work of one stream of a GPU: a sequence of packets with typed records. trace_processor shows
// them as rows of gpu_slice, in place of slices of a track.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/metric_unit.hpp"
#include "exchange/call_sink.hpp"
#include "exchange/format_text.hpp"
#include "formats/perfetto/schema.hpp"
#include "formats/perfetto/shared.hpp"

namespace timeloom::perfetto {

using exchange::ProtoMessage;

namespace {

constexpr std::size_t kStreamPiece = 1 << 16;
// Numbers of the stages, and the first one of queues.
constexpr std::uint64_t kKernelStage = 1, kCopyStage = 2, kQueues = 3;

class GpuStream : public exchange::CallSink {
 public:
  GpuStream(Shared& shared, const Location& location, std::int32_t device)
      : CallSink(shared.definitions),
        shared_(shared),
        index_(shared.tracks.index_of(location.id)),
        process_(shared.tracks.tracks[index_].process),
        device_(device),
        known_regions_(shared.definitions.regions.size()) {
    begin_sequence(location);
  }

 protected:
  void enter(const Event& event, Arguments) override {
    open_.push_back({++works_, shared_.clock(event.time), event.ref, {}});
  }
  void value(const Event& event) override {
    if (!open_.empty()) open_.back().values.emplace_back(event.ref, event.value);
  }
  void leave(const Event& event, Arguments) override {
    if (open_.empty()) return;
    write(open_.back(), shared_.clock(event.time));
    open_.pop_back();
  }
  void end() override {
    pass();
    shared_.ordered.finish(index_);
  }

 private:
  struct Work {
    std::uint64_t number;
    std::uint64_t start;
    std::uint32_t region;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> values;  // by metric
  };

  // The process, the stages, and the queue of the records that follow.
  void begin_sequence(const Location& location) {
    ProtoMessage context, interned;
    context.number(context::kIid, process_ + 1);
    context.number(context::kPid, shared_.tracks.processes[process_].id);
    context.number(context::kApi, context::kCuda);
    interned.message(interned::kGraphicsContexts, context);
    add_specification(interned, kKernelStage, "kernel", specification::kCompute);
    add_specification(interned, kCopyStage, "copy", specification::kOther);
    add_specification(interned, kQueues + index_, exchange::utf8(location.name),
                      specification::kOther);
    ProtoMessage packet;
    packet.number(packet::kTrustedPacketSequenceId, index_ + 1);
    packet.number(packet::kSequenceFlags, packet::kStateCleared);
    packet.message(packet::kInternedData, interned);
    append_packet(packets_, packet);
  }

  static void add_specification(ProtoMessage& interned, std::uint64_t number, std::string_view name,
                                std::uint64_t category) {
    ProtoMessage one;
    one.number(specification::kIid, number);
    one.text(specification::kName, name);
    one.number(specification::kCategory, category);
    interned.message(interned::kGpuSpecifications, one);
  }

  void write(const Work& work, std::uint64_t end) {
    ProtoMessage record, interned, packet;
    record.number(stage::kEventId, GpuWorks::event_id(index_, work.number));
    record.number(stage::kDuration, end - std::min(work.start, end));
    record.number(stage::kContext, process_ + 1);
    record.integer(stage::kGpuId, device_);
    record.number(stage::kHwQueueIid, kQueues + index_);
    add_region(work.region, record, interned);
    for (const auto& [metric, value] : work.values) add_value(metric, value, record);
    packet.number(packet::kTimestamp, work.start);
    packet.number(packet::kTimestampClockId, clock::kBoottime);
    packet.number(packet::kTrustedPacketSequenceId, index_ + 1);
    packet.number(packet::kSequenceFlags, packet::kNeedsState);
    if (!interned.bytes().empty()) packet.message(packet::kInternedData, interned);
    packet.message(packet::kGpuRenderStageEvent, record);
    append_packet(packets_, packet);
    if (packets_.size() >= kStreamPiece) pass();
  }

  void add_region(std::uint32_t ref, ProtoMessage& record, ProtoMessage& interned) {
    if (ref >= known_regions_.size()) return record.number(stage::kStageIid, kCopyStage);
    const Region& region = definitions().regions[ref];
    const bool kernel = region.group == kGpuKernels;
    const std::uint64_t number = ref + std::uint64_t{1};
    record.number(stage::kStageIid, kernel ? kKernelStage : kCopyStage);
    record.number(stage::kNameIid, number);
    if (kernel) record.number(stage::kKernelIid, number);
    if (known_regions_[ref]) return;
    known_regions_[ref] = true;
    const std::string name = exchange::region_name(definitions(), RegionId{ref});
    ProtoMessage named;
    named.number(interned::kIid, number);
    named.text(interned::kName, exchange::utf8(name));
    interned.message(interned::kEventNames, named);
    if (!kernel) return;
    ProtoMessage described;
    described.number(kernel::kIid, number);
    described.text(kernel::kName, exchange::utf8(region.canonical_name));
    described.text(kernel::kDemangledName, exchange::utf8(name));
    interned.message(interned::kComputeKernels, described);
  }

  void add_value(std::uint32_t ref, std::uint64_t value, ProtoMessage& record) const {
    const Metric& metric = definitions().metrics[ref];
    const std::string unit = value_unit(metric);
    ProtoMessage one;
    one.text(extra::kName, exchange::utf8(exchange::metric_name(metric)));
    one.text(extra::kValue,
             exchange::utf8(std::to_string(value) + (unit.empty() ? "" : " " + unit)));
    record.message(stage::kExtraData, one);
  }

  void pass() {
    shared_.ordered.write(index_, packets_);
    packets_.clear();
  }

  Shared& shared_;
  std::size_t index_;
  std::size_t process_;
  std::int32_t device_;
  std::vector<bool> known_regions_;
  std::vector<Work> open_;
  std::uint64_t works_ = 0;
  std::string packets_;
};

}  // namespace

std::unique_ptr<LocationSink> write_stream(Shared& shared, const Location& location,
                                           std::int32_t device) {
  return std::make_unique<GpuStream>(shared, location, device);
}

}  // namespace timeloom::perfetto
