#include "formats/otf2/location_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/memory/memory_attributes.hpp"
#include "formats/otf2/copy_writer.hpp"
#include "formats/otf2/io_writer.hpp"
#include "formats/otf2/message_writer.hpp"
#include "formats/otf2/original_archive.hpp"
#include "formats/otf2/read/chunk_check.hpp"
#include "formats/otf2/team_writer.hpp"
#include "formats/otf2/thread_writer.hpp"

namespace timeloom::otf2 {

namespace {

// OTF2 has no float parameters. They are written as strings, with the shortest text that reads back
// as the same number.
std::string shortest_text(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

OTF2_MetricValue metric_value(std::uint64_t bits) {
  OTF2_MetricValue value;
  value.unsigned_int = bits;  // a union: the same 8 bytes for every type
  return value;
}

OTF2_Type metric_type(MetricValueType type) {
  switch (type) {
    case MetricValueType::kInt64: return OTF2_TYPE_INT64;
    case MetricValueType::kUint64: return OTF2_TYPE_UINT64;
    case MetricValueType::kDouble: break;
  }
  return OTF2_TYPE_DOUBLE;
}

class LocationWriter : public LocationSink {
 public:
  LocationWriter(Shared& shared, Written& written, const Location& location)
      : shared_(shared), written_(written), location_(location), teams_(shared) {
    forget_library_errors();
    if (shared.contexts) contexts_.emplace(*shared.contexts, *shared.definitions);
    attributes_ = OTF2_AttributeList_New();
    writer_ = OTF2_Archive_GetEvtWriter(shared_.archive, location_.id.value());
    if (attributes_ == nullptr || writer_ == nullptr) {
      OTF2_AttributeList_Delete(attributes_);
      fail(what());
    }
  }

  // After an error: the archive closes the writers that finish() did not.
  ~LocationWriter() override { OTF2_AttributeList_Delete(attributes_); }
  LocationWriter(const LocationWriter&) = delete;
  LocationWriter& operator=(const LocationWriter&) = delete;

  void consume(std::span<const Event> events) override {
    if (events.empty()) return;
    forget_library_errors();
    for (const Event& event : events) {
      const OTF2_ErrorCode code =
          shared_.original == nullptr ? write(event) : write_original(event);
      if (code != OTF2_SUCCESS) [[unlikely]]
        fail(what(), code);
    }
    count_.first = std::min(count_.first, ticks(events.front().time));
    count_.last = std::max(count_.last, ticks(events.back().time));
  }

  void finish() override {
    forget_library_errors();
    check(OTF2_EvtWriter_GetNumberOfEvents(writer_, &count_.events), what());
    check(OTF2_Archive_CloseEvtWriter(shared_.archive, writer_), what());
    writer_ = nullptr;
    check_file(count_.events);
    written_.add(location_.id, count_);
  }

 private:
  // Checks the file here: nobody reads it again before its source is removed.
  void check_file(std::uint64_t events) const {
    const std::string name = std::to_string(location_.id.value()) + ".evt";
    const InputDirectory directory(shared_.files);
    const EventFile file = read_events({directory, name}, kUnbufferedWrite);
    if (file.events == events && file.digest == digest_) return;
    throw Error(what() + ": " + name +
                " does not hold the events that were written; make room or "
                "choose another disk, and weave again [TL315]");
  }

  std::string what() const { return shared_.what + ", location '" + location_.name + "'"; }

  OTF2_ErrorCode write(const Event& event) {
    const OTF2_TimeStamp time = ticks(event.time);
    if (contexts_) return write_in_context(event, time);
    switch (event.kind) {
      case EventKind::kEnter:
        digest_.add(time, event.ref, false);
        return OTF2_EvtWriter_Enter(writer_, attributes_of(event), time, event.ref);
      case EventKind::kLeave:
        digest_.add(time, event.ref, true);
        return OTF2_EvtWriter_Leave(writer_, attributes_of(event), time, event.ref);
      default: return write_other(event, time);
    }
  }

  OTF2_ErrorCode write_in_context(const Event& event, OTF2_TimeStamp time) {
    const bool has_region =
        event.kind <= EventKind::kLeave || event.kind == EventKind::kSampleFrame;
    if (has_region && event.ref >= shared_.definitions->regions.size()) {
      throw Error(what() + ": an event refers to region " + std::to_string(event.ref) +
                  ", which is not defined [TL316]");
    }
    switch (event.kind) {
      case EventKind::kEnter: return contexts_->enter(writer_, attributes_of(event), event);
      case EventKind::kLeave: return contexts_->leave(writer_, attributes_of(event), event);
      case EventKind::kSampleFrame: contexts_->frame(event); return OTF2_SUCCESS;
      case EventKind::kSample: return contexts_->sample(writer_, event);
      default: return write_other(event, time);
    }
  }

  // With the references of another tool. Events whose form there is not known any more are left
  // out: such archives have not been packed.
  OTF2_ErrorCode write_original(Event event) {
    const bool has_no_form = is_of_team(event.kind) || is_io(event.kind) || is_rma(event.kind) ||
                             is_memory_attribute(event);
    if (has_no_form) return OTF2_SUCCESS;
    if (event.kind >= EventKind::kThreadCreate && event.kind <= EventKind::kThreadWait) {
      return write_original_thread(writer_, event);
    }
    event.ref = shared_.original->of(event);
    return write(event);
  }

  // The attributes of the next enter, leave or parameter; nearly always none. The writing call
  // empties the list.
  OTF2_AttributeList* waited() {
    if (waited_ == 0) [[likely]]
      return nullptr;
    OTF2_AttributeList_AddUint64(attributes_, kWaitingAttribute, std::exchange(waited_, 0));
    if (std::exchange(caused_, false)) add_causes();
    return attributes_;
  }

  // Of an enter or leave. A part of a run may lack the call that allocates memory, but have its
  // attributes.
  OTF2_AttributeList* attributes_of(const Event& event) {
    if (!has_memory_) [[likely]]
      return waited();
    has_memory_ = false;
    const auto& regions = shared_.definitions->regions;
    const bool fits =
        event.ref < regions.size() && regions[event.ref].paradigm == Paradigm::kMemory;
    for (std::uint32_t i = 0; i < kMemoryAttributes; ++i) {
      const std::optional<std::uint64_t> value = std::exchange(memory_[i], std::nullopt);
      if (!fits || !value) continue;
      OTF2_AttributeList_AddUint64(attributes_, shared_.memory_attribute + i, *value);
    }
    (void)waited();
    return attributes_;
  }

  void keep_memory(const Event& event) {
    memory_[event.ref - kFirstMemoryAttribute] = event.value;
    has_memory_ = true;
  }

  void add_causes() {
    for (std::size_t i = 1; i < kWaitingCauses; ++i) {
      if (by_cause_[i] == 0) continue;
      const auto attribute = kFirstCauseAttribute + static_cast<OTF2_AttributeRef>(i - 1);
      OTF2_AttributeList_AddUint64(attributes_, attribute, std::exchange(by_cause_[i], 0));
    }
  }

  void add_waiting(const Event& event) {
    waited_ += event.value;
    if (event.ref == 0 || event.ref >= kWaitingCauses) return;
    by_cause_[event.ref] += event.value;
    caused_ = true;
  }

  OTF2_ErrorCode write_other(const Event& event, OTF2_TimeStamp time) {
    switch (event.kind) {
      case EventKind::kWaiting: add_waiting(event); return OTF2_SUCCESS;
      case EventKind::kParameterInt:
        return OTF2_EvtWriter_ParameterInt(writer_, waited(), time, event.ref, event.as_int());
      case EventKind::kParameterUint:
        return OTF2_EvtWriter_ParameterUnsignedInt(writer_, waited(), time, event.ref, event.value);
      case EventKind::kParameterFloat:
        return OTF2_EvtWriter_ParameterString(
            writer_, waited(), time, event.ref,
            shared_.strings.refer(shortest_text(event.as_double())));
      case EventKind::kParameterString:
        return OTF2_EvtWriter_ParameterString(writer_, waited(), time, event.ref, string_of(event));
      case EventKind::kMetric: return write_metric(event, time);
      case EventKind::kRecordingOff:
        return OTF2_EvtWriter_MeasurementOnOff(writer_, nullptr, time, OTF2_MEASUREMENT_OFF);
      case EventKind::kRecordingOn:
        return OTF2_EvtWriter_MeasurementOnOff(writer_, nullptr, time, OTF2_MEASUREMENT_ON);
      case EventKind::kProgramBegin: return write_program_begin(event, time);
      case EventKind::kProgramEnd:  // OTF2's value for an undefined status is Timeloom's, too
        return OTF2_EvtWriter_ProgramEnd(writer_, nullptr, time, event.as_int());
      case EventKind::kThreadCreate:
      case EventKind::kThreadBegin:
      case EventKind::kThreadEnd:
      case EventKind::kThreadWait: return write_thread_event(writer_, event, location_, shared_);
      default:
        if (is_of_team(event.kind)) return teams_.write(writer_, event);
        if (is_io(event.kind)) return write_io(event, time);
        if (is_rma(event.kind)) return write_copy(writer_, event, location_, shared_);
        if (is_memory_attribute(event)) return keep_memory(event), OTF2_SUCCESS;
        if (operands_.take(event)) return OTF2_SUCCESS;
        return write_message(writer_, event, operands_, shared_.first_communicator);
    }
  }

  OTF2_ErrorCode write_io(const Event& event, OTF2_TimeStamp time) {
    if (event.kind == EventKind::kIoOffset) {
      offset_ = event;
      return OTF2_SUCCESS;
    }
    if (event.kind == EventKind::kIoDelete) {
      const auto path = shared_.definitions->strings.at(event.value);
      return OTF2_EvtWriter_IoDeleteFile(writer_, nullptr, time,
                                         static_cast<OTF2_IoParadigmRef>(event.ref),
                                         io_file(shared_, path));
    }
    return write_io_event(writer_, attributes_, shared_.offset_attribute, event,
                          std::exchange(offset_, std::nullopt), interface_of(event));
  }

  IoParadigm interface_of(const Event& event) const {
    if (event.ref >= shared_.definitions->io_handles.size()) {
      throw Error(what() + ": an event refers to I/O handle " + std::to_string(event.ref) +
                  ", which is not defined [TL316]");
    }
    return shared_.definitions->io_handles[event.ref].paradigm;
  }

  OTF2_StringRef string_of(const Event& event) const {
    if (event.value >= shared_.string_references.size()) {
      throw Error(what() + ": an event refers to string " + std::to_string(event.value) +
                  ", which is not defined [TL316]");
    }
    return shared_.string_references[event.value];
  }

  OTF2_ErrorCode write_metric(const Event& event, OTF2_TimeStamp time) {
    if (event.ref >= shared_.definitions->metrics.size()) {
      throw Error(what() + ": an event refers to metric " + std::to_string(event.ref) +
                  ", which is not defined [TL316]");
    }
    const Metric& metric = shared_.definitions->metrics[event.ref];
    const MetricMember& place = shared_.metrics[event.ref];
    types_[place.member] = metric_type(metric.type);
    values_[place.member] = metric_value(event.value);
    if (place.member + 1 < place.members) return OTF2_SUCCESS;  // other members follow
    const auto instance = shared_.metric_instances.find({location_.id, place.metric_class});
    const OTF2_MetricRef self =
        instance == shared_.metric_instances.end() ? place.metric_class : instance->second;
    return OTF2_EvtWriter_Metric(writer_, nullptr, time, self, place.members, types_.data(),
                                 values_.data());
  }

  OTF2_ErrorCode write_program_begin(const Event& event, OTF2_TimeStamp time) {
    if (event.ref >= shared_.programs.size()) {
      throw Error(what() + ": an event refers to location group " + std::to_string(event.ref) +
                  ", which is not defined [TL316]");
    }
    const std::uint64_t process = shared_.definitions->groups[event.ref].process_id;
    if (process != 0 && shared_.process_attribute != OTF2_UNDEFINED_ATTRIBUTE) {
      OTF2_AttributeList_AddUint64(attributes_, shared_.process_attribute, process);
    }
    const bool is_ours = shared_.original == nullptr;
    if (is_ours && location_.thread_id != 0 && location_.thread_id != process) {
      OTF2_AttributeList_AddUint64(attributes_, kThreadIdAttribute, location_.thread_id);
    }
    const Shared::Program& program = shared_.programs[event.ref];
    // The call empties the list of attributes.
    return OTF2_EvtWriter_ProgramBegin(writer_, attributes_, time, program.name,
                                       static_cast<std::uint32_t>(program.arguments.size()),
                                       program.arguments.data());
  }

  Shared& shared_;
  Written& written_;
  const Location location_;
  OTF2_EvtWriter* writer_ = nullptr;
  OTF2_AttributeList* attributes_ = nullptr;
  std::array<OTF2_Type, UINT8_MAX> types_{};  // of metrics that are sampled together
  std::array<OTF2_MetricValue, UINT8_MAX> values_{};
  EventCount count_;
  EventDigest digest_;
  Operands operands_;
  TeamWriter teams_;
  std::optional<ContextWriter> contexts_;
  std::optional<Event> offset_;  // of the next I/O event
  // Attributes of the next enter or leave, by MemoryAttribute. Of several values the last counts: a
  // damaged file may have any number of them.
  std::array<std::optional<std::uint64_t>, kMemoryAttributes> memory_;
  bool has_memory_ = false;
  std::uint64_t waited_ = 0;  // nanoseconds, before the next enter or leave
  std::array<std::uint64_t, kWaitingCauses> by_cause_{};  // parts of it
  bool caused_ = false;                                   // there are some
};

}  // namespace

void number_metrics(Shared& shared) {
  const Definitions& all = *shared.definitions;
  std::map<std::string, std::vector<std::size_t>> sets;
  std::vector<OTF2_MetricRef> of_processes;
  OTF2_MetricRef next = 0;
  shared.metrics.resize(all.metrics.size());
  for (std::size_t i = 0; i < all.metrics.size(); ++i) {
    const Metric& metric = all.metrics[i];
    if (metric.of_waiting()) continue;  // an attribute of enters and leaves
    MetricMember& place = shared.metrics[i];
    std::vector<std::size_t>& members = sets[metric.set];
    const bool full = members.size() == UINT8_MAX;  // not of ours
    if (metric.sampled() && !members.empty() && !full) {
      place = {shared.metrics[members.front()].metric_class,
               static_cast<std::uint8_t>(members.size()), 1};
    } else {
      place = {next++, 0, 1};
      members.clear();
      if (metric.of_process()) of_processes.push_back(place.metric_class);
    }
    members.push_back(i);
    for (const std::size_t member : members) {
      if (metric.sampled())
        shared.metrics[member].members = static_cast<std::uint8_t>(members.size());
    }
  }
  for (const Location& location : all.locations) {
    if (location.type != LocationType::kMetric) continue;
    for (const OTF2_MetricRef one : of_processes) {
      shared.metric_instances[{location.id, one}] = next++;
    }
  }
}

void Written::add(LocationId location, const EventCount& count) {
  const std::lock_guard lock(mutex_);
  for (EventCount* sum : {&counts_[location], &all_}) {
    sum->events += count.events;
    sum->first = std::min(sum->first, count.first);
    sum->last = std::max(sum->last, count.last);
  }
}

std::unique_ptr<LocationSink> open_location_writer(Shared& shared, Written& written,
                                                   const Location& location) {
  return std::make_unique<LocationWriter>(shared, written, location);
}

}  // namespace timeloom::otf2
