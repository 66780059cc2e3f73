// The events of one location: a sequence of packets with its own clock and interned names.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/samples/sample_period.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/wakeups.hpp"
#include "exchange/call_sink.hpp"
#include "exchange/format_text.hpp"
#include "formats/perfetto/sample_stacks.hpp"
#include "formats/perfetto/schema.hpp"
#include "formats/perfetto/shared.hpp"

namespace timeloom::perfetto {

using exchange::ProtoMessage;

namespace {

constexpr std::size_t kPiece = 1 << 16;
constexpr std::uint64_t kMessages = std::uint64_t{1} << 63;  // flow ids from here on are messages
constexpr std::uint64_t kWakes = std::uint64_t{1} << 62;     // flow ids from here on are wakeups
constexpr std::uint64_t kLaunches = std::uint64_t{1} << 61;  // flow ids from here on are launches
constexpr std::uint64_t kTasks = std::uint64_t{1} << 60;     // flow ids from here on are tasks

// Numbers start at 1.
std::uint64_t number_of(exchange::Category category) {
  return 1 + static_cast<std::uint64_t>(category);
}

class PerfettoLocation : public exchange::CallSink {
 public:
  PerfettoLocation(Shared& shared, const Location& location)
      : CallSink(shared.definitions),
        shared_(shared),
        index_(shared.tracks.index_of(location.id)),
        process_(shared.tracks.tracks[index_].process),
        group_(location.group),
        known_regions_(shared.definitions.regions.size()),
        known_categories_(exchange::kCategories + 1),
        known_parameters_(shared.definitions.parameters.size()),
        known_counters_(shared.definitions.metrics.size()),
        transfers_(shared.definitions, shared.messages, location.id),
        arrows_(shared.arrows, location.id),
        stacks_(shared.definitions) {
    begin_sequence();
  }

 protected:
  void enter(const Event& event, Arguments arguments) override {
    if (shared_.launches.any()) entered_.push_back(ticks(event.time));
    if (shared_.samples) path_.push_back(event.ref);
    event_.number(event::kType, event::kSliceBegin);
    if (event.ref < known_regions_.size()) {
      intern_region(event.ref);
      event_.number(event::kNameIid, event.ref + std::uint64_t{1});
      event_.number(event::kCategoryIids,
                    number_of(exchange::category_of(definitions().regions[event.ref])));
      if (!definitions().regions[event.ref].file.empty()) {
        event_.number(event::kSourceLocationIid, event.ref + std::uint64_t{1});
      }
    }
    annotate(arguments);
    add(event.time);
    if (!arrows_.any()) return;
    if (const auto* const task = arrows_.entered()) {
      add_arrows("takes", event::kTerminatingFlowIds, task->taken, event);
    }
  }

  void leave(const Event& event, Arguments late) override {
    if (!entered_.empty()) entered_.pop_back();
    if (!path_.empty()) path_.pop_back();
    if (const auto* const task = arrows_.left()) {
      add_arrows("made", event::kFlowIds, task->made, event);
    }
    event_.number(event::kType, event::kSliceEnd);
    annotate(late);
    add(event.time);
  }

  void value(const Event& event) override {
    const Metric& metric = definitions().metrics[event.ref];
    if (shared_.samples && is_sampled_time(metric)) return;  // of a sample
    const std::uint64_t number = metric.of_process()
                                     ? shared_.numbers.of_process_counter(process_, event.ref)
                                     : shared_.numbers.of_counter(index_, event.ref);
    if (!known_counters_[event.ref]) {
      known_counters_[event.ref] = true;
      append_packet(packets_,
                    describe_counter(metric, number,
                                     metric.of_process() ? shared_.numbers.of_process(process_)
                                                         : shared_.numbers.of_location(index_)));
    }
    event_.number(event::kType, event::kCounter);
    event_.number(event::kTrackUuid, number);
    if (metric.type == MetricValueType::kDouble) {
      event_.real(event::kDoubleCounterValue, event.as_double());
    } else {
      event_.integer(event::kCounterValue, event.as_int());
    }
    add(event.time);
    if (entered_.empty()) return;
    const auto end = shared_.launches.end_of(event, ticks(event.time), entered_.back(), group_);
    if (end) launch(*end, event);
  }

  void other(const Event& event) override {
    switch (event.kind) {
      case EventKind::kSampleFrame: return frames_.push_back(event.ref);
      case EventKind::kSample: return sample(event);
      case EventKind::kRecordingOff: return instant(event.time, "recording off");
      case EventKind::kRecordingOn: return instant(event.time, "recording on");
      case EventKind::kThreadCreate:
        return flow(event, "create", event::kFlowIds, 2 * event.value + 2);
      case EventKind::kThreadBegin:
        return flow(event, "begin", event::kTerminatingFlowIds, 2 * event.value + 2);
      case EventKind::kThreadEnd: return flow(event, "end", event::kFlowIds, 2 * event.value + 3);
      case EventKind::kThreadWait:
        return flow(event, "join", event::kTerminatingFlowIds, 2 * event.value + 3);
      case EventKind::kParameterUint: {
        const bool wakes = wakeup_end_of(event, definitions()) == WakeupEnd::kWakes;
        return flow(event, wakes ? "wakes" : "woken",
                    wakes ? event::kFlowIds : event::kTerminatingFlowIds, kWakes + event.value);
      }
      default:
        if (const auto one = transfers_.read(event)) transfer(*one, event.time);
    }
  }

  void end() override {
    pass();
    shared_.ordered.finish(index_);
  }

 private:
  // The clock of the sequence counts from its last packet; its events belong to one track.
  void begin_sequence() {
    ProtoMessage base, mine, snapshot;
    base.number(clock::kClockId, clock::kBoottime);
    base.number(clock::kTimestamp, 0);
    mine.number(clock::kClockId, clock::kOfSequence);
    mine.number(clock::kTimestamp, 0);
    mine.number(clock::kIsIncremental, 1);
    snapshot.message(clock::kClocks, base);
    snapshot.message(clock::kClocks, mine);

    ProtoMessage of_events, of_packets;
    of_events.number(event::kTrackUuid, shared_.numbers.of_location(index_));
    of_packets.message(defaults::kTrackEventDefaults, of_events);
    if (shared_.samples) {
      of_packets.message(defaults::kPerfSampleDefaults,
                         sample_defaults(sample_period(definitions())));
    }
    of_packets.number(defaults::kTimestampClockId, clock::kOfSequence);

    packet_.number(packet::kTrustedPacketSequenceId, index_ + 1);
    packet_.number(packet::kSequenceFlags, packet::kStateCleared);
    packet_.message(packet::kClockSnapshot, snapshot);
    packet_.message(packet::kTracePacketDefaults, of_packets);
    append_packet(packets_, packet_);
    packet_.clear();
  }

  // Appends event_ and the texts interned for it.
  void add(Timestamp time) { add(time, packet::kTrackEvent, event_); }

  void add(Timestamp time, Field field, const ProtoMessage& contents) {
    const std::uint64_t now = shared_.clock(time);
    packet_.number(packet::kTimestamp, now - std::min(last_, now));
    last_ = std::max(last_, now);
    packet_.number(packet::kTrustedPacketSequenceId, index_ + 1);
    packet_.number(packet::kSequenceFlags, packet::kNeedsState);
    if (!interned_.bytes().empty()) packet_.message(packet::kInternedData, interned_);
    packet_.message(field, contents);
    framed_.message(trace::kPacket, packet_);
    packets_ += framed_.bytes();
    for (ProtoMessage* one : {&packet_, &interned_, &event_, &framed_}) one->clear();
    if (packets_.size() >= kPiece) pass();
  }

  // The calls that are open, and the frames below them.
  void sample(const Event& event) {
    std::vector<std::uint32_t> path = path_;
    path.insert(path.end(), frames_.begin(), frames_.end());
    frames_.clear();
    sampled_time_ += event.value;
    const auto defined = [this](std::uint32_t region) { return region < known_regions_.size(); };
    if (path.empty() || !std::ranges::all_of(path, defined)) return;
    const exchange::Track& track = shared_.tracks.tracks[index_];
    ProtoMessage one;
    one.number(perf_sample::kPid, shared_.tracks.processes[process_].id);
    one.number(perf_sample::kTid, track.thread);
    one.number(perf_sample::kCallstackIid, stacks_.number_of(path, interned_));
    one.number(perf_sample::kCpuMode, perf_sample::kUserMode);
    one.number(perf_sample::kTimebaseCount, sampled_time_);
    add(event.time, packet::kPerfSample, one);
  }

  void pass() {
    shared_.ordered.write(index_, packets_);
    packets_.clear();
  }

  void intern(Field field, std::uint64_t number, std::string_view name) {
    ProtoMessage one;
    one.number(interned::kIid, number);
    one.text(interned::kName, exchange::utf8(name));
    interned_.message(field, one);
  }

  void intern_region(std::uint32_t ref) {
    if (known_regions_[ref]) return;
    known_regions_[ref] = true;
    const Region& region = definitions().regions[ref];
    intern_category(exchange::category_of(region));
    const std::uint64_t number = ref + std::uint64_t{1};
    intern(interned::kEventNames, number, exchange::region_name(definitions(), RegionId{ref}));
    if (region.file.empty()) return;
    ProtoMessage place;
    place.number(interned::kIid, number);
    place.text(interned::kFileName, exchange::utf8(region.file));
    place.text(interned::kFunctionName, exchange::utf8(region.canonical_name));
    place.number(interned::kLineNumber, region.first_line);
    interned_.message(interned::kSourceLocations, place);
  }

  void intern_category(exchange::Category category) {
    const std::uint64_t number = number_of(category);
    if (known_categories_[number]) return;
    known_categories_[number] = true;
    const bool of_functions = category == exchange::Category::kFunction;
    intern(interned::kEventCategories, number,
           of_functions ? shared_.functions : exchange::name_of(category));
  }

  void annotate(Arguments arguments) {
    for (const Event& one : arguments) {
      if (!known_parameters_[one.ref]) {
        known_parameters_[one.ref] = true;
        intern(interned::kDebugAnnotationNames, one.ref + std::uint64_t{1},
               exchange::parameter_name(definitions().parameters[one.ref]));
      }
      ProtoMessage argument;
      argument.number(annotation::kNameIid, one.ref + std::uint64_t{1});
      switch (one.kind) {
        case EventKind::kParameterInt: argument.integer(annotation::kIntValue, one.as_int()); break;
        case EventKind::kParameterUint: argument.number(annotation::kUintValue, one.value); break;
        case EventKind::kParameterFloat:
          argument.real(annotation::kDoubleValue, one.as_double());
          break;
        default:
          argument.text(annotation::kStringValue, exchange::utf8(definitions().strings[one.value]));
      }
      event_.message(event::kDebugAnnotations, argument);
    }
  }

  void begin_instant(std::string_view name, exchange::Category category) {
    intern_category(category);
    event_.number(event::kType, event::kInstant);
    event_.number(event::kCategoryIids, number_of(category));
    event_.text(event::kName, name);
  }

  // The number of a text that is written once.
  std::uint64_t interned_text(Field field, std::string_view text, std::uint64_t others) {
    auto& known = texts_[field];
    const auto [found, fresh] = known.try_emplace(std::string(text), others + known.size() + 1);
    if (fresh) intern(field, found->second, text);
    return found->second;
  }

  void transfer(const exchange::Transfer& one, Timestamp time) {
    begin_instant(one.name, one.category);
    for (const exchange::TransferFact& fact : one.facts) {
      ProtoMessage argument;
      argument.number(annotation::kNameIid, interned_text(interned::kDebugAnnotationNames,
                                                          fact.name, known_parameters_.size()));
      if (fact.text.empty()) {
        argument.integer(annotation::kIntValue, fact.number);
      } else {
        argument.number(annotation::kStringValueIid,
                        interned_text(interned::kDebugAnnotationStringValues, fact.text, 0));
      }
      event_.message(event::kDebugAnnotations, argument);
    }
    if (one.message != 0) {
      event_.fixed64(one.arrives ? event::kTerminatingFlowIds : event::kFlowIds,
                     kMessages + one.message);
    }
    add(time);
  }

  void instant(Timestamp time, const char* name) {
    begin_instant(name, exchange::Category::kMeasurement);
    add(time);
  }

  // One end of an arrow between threads or tasks.
  void flow(const Event& event, const char* name, Field field, std::uint64_t number) {
    begin_instant(name, exchange::Category::kMeasurement);
    event_.fixed64(field, number);
    add(event.time);
  }

  // One end of an arrow from a call to the work on a GPU that it started, or on to its next work.
  void launch(const GpuLaunchEnd& end, const Event& event) {
    if (shared_.works.any()) return launch_typed(end, event);
    flow(event, end.is_work ? "launched" : "launch", event::kFlowIds,
         kLaunches | end.number % kLaunches);
  }

  // The works that a call has started, where these are typed records.
  void launch_typed(const GpuLaunchEnd& end, const Event& event) {
    const auto works = shared_.works.started_by(end.number);
    if (end.is_work || works.empty()) return;
    ProtoMessage started;
    for (const LaunchedWork& work : works) {
      started.number(correlation::kSubmittedEventIds, work.event);
    }
    begin_instant("launch", exchange::Category::kMeasurement);
    event_.message(event::kGpuCorrelation, started);
    add(event.time);
  }

  // Ends of arrows from the task that made a value to the task that takes it.
  void add_arrows(const char* name, Field field, const std::vector<std::uint64_t>& arrows,
                  const Event& event) {
    if (arrows.empty()) return;
    begin_instant(name, exchange::Category::kMeasurement);
    for (const std::uint64_t number : arrows) event_.fixed64(field, kTasks + number);
    add(event.time);
  }

  Shared& shared_;
  std::size_t index_;
  std::size_t process_;
  LocationGroupId group_;
  std::vector<std::uint64_t> entered_;  // times of the open calls, where the run has launches
  std::uint64_t last_ = 0;              // time of the last packet
  std::vector<bool> known_regions_;
  std::vector<bool> known_categories_;
  std::vector<bool> known_parameters_;
  std::vector<bool> known_counters_;
  exchange::TransferReader transfers_;
  exchange::ArrowReader arrows_;
  std::map<Field, std::map<std::string, std::uint64_t>> texts_;  // interned ones of transfers
  SampleStacks stacks_;
  std::vector<std::uint32_t> path_, frames_;  // open calls, and frames of the next sample
  std::uint64_t sampled_time_ = 0;            // nanoseconds of all samples before
  ProtoMessage event_;
  ProtoMessage interned_;
  ProtoMessage packet_;
  ProtoMessage framed_;
  std::string packets_;
};

}  // namespace

std::unique_ptr<LocationSink> write_location(Shared& shared, const Location& location) {
  return std::make_unique<PerfettoLocation>(shared, location);
}

}  // namespace timeloom::perfetto
