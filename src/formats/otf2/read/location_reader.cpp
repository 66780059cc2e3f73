#include "formats/otf2/read/location_reader.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <string>

#include "core/io.hpp"
#include "core/memory/memory_attributes.hpp"
#include "core/waiting_metric.hpp"
#include "formats/otf2/read/chunk_check.hpp"
#include "formats/otf2/read/message_reader.hpp"
#include "formats/otf2/read/team_reader.hpp"

namespace timeloom::otf2 {

namespace {

constexpr std::uint64_t kBatch = 4096;

struct EvtReader {
  EvtReader(OTF2_Reader* of, LocationId location, const std::string& what)
      : reader(of), events(check(OTF2_Reader_GetEvtReader(of, location.value()), what)) {}
  ~EvtReader() { OTF2_Reader_CloseEvtReader(reader, events); }
  EvtReader(const EvtReader&) = delete;
  EvtReader& operator=(const EvtReader&) = delete;

  OTF2_Reader* reader;
  OTF2_EvtReader* events;
};

using Callbacks =
    std::unique_ptr<OTF2_EvtReaderCallbacks, decltype(&OTF2_EvtReaderCallbacks_Delete)>;

// Turns the library's events into core events. The library calls its functions, and no exception
// may pass through it: exceptions are kept.
class Translator {
 public:
  Translator(const Source& source, const Location& location)
      : teams{location.id}, source_(source), location_(location), balance_(batch, repairs) {
    batch.reserve(2 * kBatch);
  }

  void register_with(OTF2_Reader* reader, OTF2_EvtReader* events, const std::string& what) {
    const Callbacks callbacks(OTF2_EvtReaderCallbacks_New(), &OTF2_EvtReaderCallbacks_Delete);
    OTF2_EvtReaderCallbacks* const all = callbacks.get();
    OTF2_EvtReaderCallbacks_SetEnterCallback(all, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(all, on_leave);
    OTF2_EvtReaderCallbacks_SetMetricCallback(all, on_metric);
    OTF2_EvtReaderCallbacks_SetParameterStringCallback(all, on_parameter_string);
    OTF2_EvtReaderCallbacks_SetParameterIntCallback(all, on_parameter_int);
    OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(all, on_parameter_uint);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(all, on_measurement);
    OTF2_EvtReaderCallbacks_SetProgramBeginCallback(all, on_program_begin);
    OTF2_EvtReaderCallbacks_SetProgramEndCallback(all, on_program_end);
    OTF2_EvtReaderCallbacks_SetThreadCreateCallback(all, on_thread<EventKind::kThreadCreate>);
    OTF2_EvtReaderCallbacks_SetThreadBeginCallback(all, on_thread<EventKind::kThreadBegin>);
    OTF2_EvtReaderCallbacks_SetThreadEndCallback(all, on_thread<EventKind::kThreadEnd>);
    OTF2_EvtReaderCallbacks_SetThreadWaitCallback(all, on_thread<EventKind::kThreadWait>);
    MessageCallbacks<Translator>::register_in(all);
    TeamCallbacks<Translator>::register_in(all);
    register_copies(all);
    register_io(all);
    check(OTF2_Reader_RegisterEvtCallbacks(reader, events, all, this), what);
  }

  void close_all() { balance_.close_all(); }

  std::vector<Event> batch;
  Repairs repairs;
  std::exception_ptr failure;
  TeamNumbers teams;

  static Translator& self(void* data) { return *static_cast<Translator*>(data); }
  const References& references() const { return source_.references; }

  OTF2_CallbackCode add(OTF2_TimeStamp time, EventKind kind, std::uint32_t ref,
                        std::uint64_t value = 0) noexcept {
    if (ref == kNoIndex) {
      ++repairs.undefined_events;
      return OTF2_CALLBACK_SUCCESS;
    }
    try {
      balance_.add({Timestamp{time}, kind, ref, value});
      return OTF2_CALLBACK_SUCCESS;
    } catch (...) {
      failure = std::current_exception();
      return OTF2_CALLBACK_INTERRUPT;
    }
  }

 private:
  // Reads the waiting attribute of an enter, leave or parameter.
  void add_waiting(OTF2_TimeStamp time, OTF2_AttributeList* attributes) noexcept {
    const OTF2_AttributeRef waiting = source_.references.waiting;
    std::uint64_t value = 0;
    if (waiting == OTF2_UNDEFINED_ATTRIBUTE || attributes == nullptr ||
        OTF2_AttributeList_GetNumberOfElements(attributes) == 0 ||
        OTF2_AttributeList_GetUint64(attributes, waiting, &value) != OTF2_SUCCESS) {
      return;
    }
    if (source_.references.has_causes) value -= add_causes(time, attributes, value);
    if (value != 0) (void)add(time, EventKind::kWaiting, 0, value);
  }

  // Returns the part of `whole` whose causes are known.
  std::uint64_t add_causes(OTF2_TimeStamp time, OTF2_AttributeList* attributes,
                           std::uint64_t whole) noexcept {
    std::uint64_t known = 0;
    for (std::uint32_t i = 1; i < kWaitingCauses; ++i) {
      std::uint64_t value = 0;
      const OTF2_AttributeRef cause = source_.references.causes[i];
      if (!OTF2_AttributeList_TestAttributeByID(attributes, cause) ||
          OTF2_AttributeList_GetUint64(attributes, cause, &value) != OTF2_SUCCESS) {
        continue;
      }
      value = std::min(value, whole - known);
      (void)add(time, EventKind::kWaiting, i, value);
      known += value;
    }
    return known;
  }

  // Reads the attributes of a call that allocates memory.
  void add_memory(OTF2_TimeStamp time, OTF2_AttributeList* attributes) noexcept {
    const References& references = source_.references;
    if (!references.has_memory || OTF2_AttributeList_GetNumberOfElements(attributes) == 0) return;
    for (std::uint32_t i = 0; i < kMemoryAttributes; ++i) {
      std::uint64_t value = 0;
      if (references.memory[i] != OTF2_UNDEFINED_ATTRIBUTE &&
          OTF2_AttributeList_TestAttributeByID(attributes, references.memory[i]) &&
          OTF2_AttributeList_GetUint64(attributes, references.memory[i], &value) == OTF2_SUCCESS) {
        (void)add(time, EventKind::kOperand, kFirstMemoryAttribute + i, value);
      }
    }
  }

  static OTF2_CallbackCode on_enter(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                    void* data, OTF2_AttributeList* attributes,
                                    OTF2_RegionRef region) noexcept {
    self(data).add_waiting(time, attributes);
    self(data).add_memory(time, attributes);
    return self(data).add(time, EventKind::kEnter,
                          self(data).source_.references.regions.find(region));
  }

  static OTF2_CallbackCode on_leave(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                    void* data, OTF2_AttributeList* attributes,
                                    OTF2_RegionRef region) noexcept {
    self(data).add_waiting(time, attributes);
    self(data).add_memory(time, attributes);
    return self(data).add(time, EventKind::kLeave,
                          self(data).source_.references.regions.find(region));
  }

  static OTF2_CallbackCode on_parameter_string(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                               void* data, OTF2_AttributeList* attributes,
                                               OTF2_ParameterRef parameter,
                                               OTF2_StringRef string) noexcept {
    self(data).add_waiting(time, attributes);
    const References& references = self(data).source_.references;
    const std::uint32_t text = references.strings.find(string);
    const std::uint32_t index = references.parameters.find(parameter);
    if (text == kNoIndex) return self(data).add(time, EventKind::kParameterString, text, text);
    if (const auto number = self(data).float_of(index, text)) {
      return self(data).add(time, EventKind::kParameterFloat, index,
                            std::bit_cast<std::uint64_t>(*number));
    }
    return self(data).add(time, EventKind::kParameterString, index, text);
  }

  // The value of a parameter that is a float; see kFloatParameters.
  std::optional<double> float_of(std::uint32_t parameter, std::uint32_t text) const noexcept {
    const Definitions& all = source_.definitions;
    if (parameter == kNoIndex || all.parameters[parameter].type != ParameterType::kFloat) return {};
    const std::string& digits = all.strings[text];
    double value = 0;
    const char* const end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, value).ptr != end || digits.empty()) return {};
    return value;
  }

  static OTF2_CallbackCode on_parameter_int(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                            void* data, OTF2_AttributeList* attributes,
                                            OTF2_ParameterRef parameter,
                                            std::int64_t value) noexcept {
    self(data).add_waiting(time, attributes);
    return self(data).add(time, EventKind::kParameterInt,
                          self(data).source_.references.parameters.find(parameter),
                          std::bit_cast<std::uint64_t>(value));
  }

  static OTF2_CallbackCode on_parameter_uint(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                             void* data, OTF2_AttributeList* attributes,
                                             OTF2_ParameterRef parameter,
                                             std::uint64_t value) noexcept {
    self(data).add_waiting(time, attributes);
    return self(data).add(time, EventKind::kParameterUint,
                          self(data).source_.references.parameters.find(parameter), value);
  }

  static OTF2_CallbackCode on_measurement(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                          void* data, OTF2_AttributeList*,
                                          OTF2_MeasurementMode mode) noexcept {
    const bool on = mode == OTF2_MEASUREMENT_ON;
    return self(data).add(time, on ? EventKind::kRecordingOn : EventKind::kRecordingOff, 0);
  }

  // Numbers are unique in a communicator. In a run of Timeloom with a single communicator they are
  // unique in the run, and larger than any number that counts within one of several.
  template <EventKind kKind>
  static OTF2_CallbackCode on_thread(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                     void* data, OTF2_AttributeList*, OTF2_CommRef communicator,
                                     std::uint64_t number) noexcept {
    const bool in_run = number > UINT32_MAX;
    return self(data).add(time, kKind, 0, in_run ? number : number << 32 | communicator);
  }

  static OTF2_CallbackCode on_program_begin(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                            void* data, OTF2_AttributeList*, OTF2_StringRef,
                                            std::uint32_t, const OTF2_StringRef*) noexcept {
    return self(data).add(time, EventKind::kProgramBegin, self(data).location_.group.value());
  }

  static OTF2_CallbackCode on_program_end(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                          void* data, OTF2_AttributeList*,
                                          std::int64_t status) noexcept {
    return self(data).add(time, EventKind::kProgramEnd, 0, std::bit_cast<std::uint64_t>(status));
  }

  // ---- copies of accelerators

  static void register_copies(OTF2_EvtReaderCallbacks* all) {
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(all, on_copy<EventKind::kRmaGet>);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(all, on_copy<EventKind::kRmaPut>);
    OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(all, on_copy_done);
  }

  // Operations of other locations are left out.
  OTF2_CallbackCode add_copy(OTF2_TimeStamp time, EventKind kind, std::uint64_t bytes) noexcept {
    if (!location_.context.defined()) return OTF2_CALLBACK_SUCCESS;
    return add(time, kind, location_.context.value(), bytes);
  }

  template <EventKind kKind>
  static OTF2_CallbackCode on_copy(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                                   OTF2_AttributeList*, OTF2_RmaWinRef, std::uint32_t,
                                   std::uint64_t bytes, std::uint64_t) noexcept {
    return self(data).add_copy(time, kKind, bytes);
  }

  static OTF2_CallbackCode on_copy_done(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                        void* data, OTF2_AttributeList*, OTF2_RmaWinRef,
                                        std::uint64_t) noexcept {
    return self(data).add_copy(time, EventKind::kRmaDone, 0);
  }

  // ---- I/O

  static void register_io(OTF2_EvtReaderCallbacks* all) {
    OTF2_EvtReaderCallbacks_SetIoCreateHandleCallback(all, on_io_create);
    OTF2_EvtReaderCallbacks_SetIoDestroyHandleCallback(all, on_io_destroy);
    OTF2_EvtReaderCallbacks_SetIoDuplicateHandleCallback(all, on_io_duplicate);
    OTF2_EvtReaderCallbacks_SetIoSeekCallback(all, on_io_seek);
    OTF2_EvtReaderCallbacks_SetIoChangeStatusFlagsCallback(all, on_io_status);
    OTF2_EvtReaderCallbacks_SetIoDeleteFileCallback(all, on_io_delete);
    OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(all, on_io_begin);
    OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(all, on_io_complete);
  }

  std::uint32_t handle_of(OTF2_IoHandleRef handle) const {
    return source_.references.io_handles.find(handle);
  }

  static OTF2_CallbackCode on_io_create(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                        void* data, OTF2_AttributeList*, OTF2_IoHandleRef handle,
                                        OTF2_IoAccessMode access, OTF2_IoCreationFlag creation,
                                        OTF2_IoStatusFlag status) noexcept {
    return self(data).add(time, EventKind::kIoCreate, self(data).handle_of(handle),
                          io_modes(static_cast<IoAccess>(access), creation, status));
  }

  static OTF2_CallbackCode on_io_destroy(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                         void* data, OTF2_AttributeList*,
                                         OTF2_IoHandleRef handle) noexcept {
    return self(data).add(time, EventKind::kIoDestroy, self(data).handle_of(handle));
  }

  static OTF2_CallbackCode on_io_duplicate(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                           void* data, OTF2_AttributeList*, OTF2_IoHandleRef old,
                                           OTF2_IoHandleRef copy,
                                           OTF2_IoStatusFlag status) noexcept {
    const std::uint32_t handle = self(data).handle_of(copy);
    return self(data).add(time, EventKind::kIoDuplicate,
                          handle == kNoIndex ? kNoIndex : self(data).handle_of(old),
                          io_word(handle, status));
  }

  static OTF2_CallbackCode on_io_seek(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                      void* data, OTF2_AttributeList*, OTF2_IoHandleRef handle,
                                      std::int64_t asked, OTF2_IoSeekOption whence,
                                      std::uint64_t reached) noexcept {
    Translator& translator = self(data);
    const std::uint32_t index = translator.handle_of(handle);
    if (index != kNoIndex) {
      (void)translator.add(time, EventKind::kIoOffset, whence, std::bit_cast<std::uint64_t>(asked));
    }
    return translator.add(time, EventKind::kIoSeek, index, reached);
  }

  static OTF2_CallbackCode on_io_status(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                        void* data, OTF2_AttributeList*, OTF2_IoHandleRef handle,
                                        OTF2_IoStatusFlag status) noexcept {
    return self(data).add(time, EventKind::kIoStatusFlags, self(data).handle_of(handle), status);
  }

  static OTF2_CallbackCode on_io_delete(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                        void* data, OTF2_AttributeList*,
                                        OTF2_IoParadigmRef interface,
                                        OTF2_IoFileRef file) noexcept {
    const References& references = self(data).source_.references;
    const std::uint32_t path = references.io_files.find(file);
    const std::uint32_t index = references.io_interfaces.find(interface);
    return self(data).add(time, EventKind::kIoDelete, path == kNoIndex ? path : index, path);
  }

  static OTF2_CallbackCode on_io_begin(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                       void* data, OTF2_AttributeList* attributes,
                                       OTF2_IoHandleRef handle, OTF2_IoOperationMode mode,
                                       OTF2_IoOperationFlag, std::uint64_t bytes,
                                       std::uint64_t matching) noexcept try {
    Translator& translator = self(data);
    const std::uint32_t index = translator.handle_of(handle);
    const std::uint32_t kind = std::min<std::uint32_t>(mode, OTF2_IO_OPERATION_MODE_FLUSH);
    translator.operations_[{index, matching}] = kind;
    std::uint64_t offset = 0;
    if (index != kNoIndex && attributes != nullptr &&
        translator.source_.references.offset != OTF2_UNDEFINED_ATTRIBUTE &&
        OTF2_AttributeList_GetNumberOfElements(attributes) != 0 &&
        OTF2_AttributeList_GetUint64(attributes, translator.source_.references.offset, &offset) ==
            OTF2_SUCCESS) {
      (void)translator.add(time, EventKind::kIoOffset, 0, offset);
    }
    return translator.add(time, operation(EventKind::kIoRead, kind), index, bytes);
  } catch (const std::bad_alloc&) {
    self(data).failure = std::current_exception();
    return OTF2_CALLBACK_INTERRUPT;
  }

  // The end event does not name the operation that ended.
  static OTF2_CallbackCode on_io_complete(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                          void* data, OTF2_AttributeList*, OTF2_IoHandleRef handle,
                                          std::uint64_t bytes, std::uint64_t matching) noexcept {
    Translator& translator = self(data);
    const std::uint32_t index = translator.handle_of(handle);
    const auto begun = translator.operations_.find({index, matching});
    if (begun == translator.operations_.end()) {
      return translator.add(time, EventKind::kIoReadDone, kNoIndex);
    }
    const std::uint32_t kind = begun->second;
    translator.operations_.erase(begun);
    return translator.add(time, operation(EventKind::kIoReadDone, kind), index, bytes);
  }

  static EventKind operation(EventKind first, std::uint32_t kind) {
    return static_cast<EventKind>(static_cast<std::uint32_t>(first) + kind);
  }

  // One event for each member of the class.
  static OTF2_CallbackCode on_metric(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                     void* data, OTF2_AttributeList*, OTF2_MetricRef metric,
                                     std::uint8_t count, const OTF2_Type* types,
                                     const OTF2_MetricValue* values) noexcept {
    Translator& translator = self(data);
    const auto members = translator.source_.references.metrics.find(metric);
    if (members == translator.source_.references.metrics.end()) {
      return translator.add(time, EventKind::kMetric, kNoIndex);
    }
    for (std::size_t i = 0; i < count && i < members->second.size(); ++i) {
      const std::uint32_t index = members->second[i];
      const std::uint64_t value =
          index == kNoIndex ? 0 : translator.metric_value(index, types[i], values[i]);
      const OTF2_CallbackCode code = translator.add(time, EventKind::kMetric, index, value);
      if (code != OTF2_CALLBACK_SUCCESS) return code;
    }
    return OTF2_CALLBACK_SUCCESS;
  }

  // Converts to the type of the metric's definition, whatever type the event has.
  std::uint64_t metric_value(std::uint32_t index, OTF2_Type type,
                             const OTF2_MetricValue& value) const {
    const bool wants_double = source_.definitions.metrics[index].type == MetricValueType::kDouble;
    if ((type == OTF2_TYPE_DOUBLE) == wants_double) return value.unsigned_int;
    if (!wants_double) return static_cast<std::uint64_t>(whole(value.floating_point));
    const double number = type == OTF2_TYPE_INT64 ? static_cast<double>(value.signed_int)
                                                  : static_cast<double>(value.unsigned_int);
    return std::bit_cast<std::uint64_t>(number);
  }

  static std::int64_t whole(double number) {
    constexpr double kLimit = 9.2e18;  // beyond, the conversion is undefined
    return number > -kLimit && number < kLimit ? static_cast<std::int64_t>(number) : 0;
  }

  const Source& source_;
  const Location& location_;
  EventBalance balance_;
  // Transfers in progress, by handle and the number that their end has, too.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> operations_;
};

void pass_to_sinks(Translator& translator, std::span<const std::unique_ptr<LocationSink>> sinks) {
  if (translator.batch.empty()) return;
  for (const auto& sink : sinks) sink->consume(translator.batch);
  translator.batch.clear();
}

// Reads `count` events, which the file check has counted. Returns false if the library still finds
// damage.
bool read_events(const EvtReader& reader, Translator& translator, std::uint64_t count,
                 std::span<const std::unique_ptr<LocationSink>> sinks) {
  while (count > 0) {
    std::uint64_t read = 0;
    const OTF2_ErrorCode code =
        OTF2_Reader_ReadLocalEvents(reader.reader, reader.events, std::min(count, kBatch), &read);
    if (translator.failure) std::rethrow_exception(translator.failure);
    pass_to_sinks(translator, sinks);
    if (code != OTF2_SUCCESS || read == 0) return false;
    count -= read;
  }
  return true;
}

std::string what_failed(const Anchor& anchor, const Location& location) {
  return "cannot read " + anchor.events(location.id).path();
}

}  // namespace

void apply_local_definitions(OTF2_Reader* reader, const Anchor& anchor, const Location& location) {
  const ArchiveFile file = anchor.local_definitions(location.id);
  if (!file.exists()) return;  // not every tool writes one
  const std::string what = "cannot read " + file.path();
  forget_library_errors();
  OTF2_DefReader* definitions = check(OTF2_Reader_GetDefReader(reader, location.id.value()), what);
  std::uint64_t read = 0;
  check(OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &read), what);
  check(OTF2_Reader_CloseDefReader(reader, definitions), what);
}

Repairs read_location(OTF2_Reader* reader, const Source& source, const Location& location,
                      std::span<const std::unique_ptr<LocationSink>> sinks) {
  const ArchiveFile events_file = source.anchor.events(location.id);
  Translator translator(source, location);
  std::uint64_t found = 0;
  if (events_file.exists()) {  // checked when the archive was opened
    ChunkCheck file(events_file, FileKind::kEvents, source.anchor.event_chunk);
    ChunkCheck::Result chunk = file.next();
    if (chunk.records > 0 || !chunk.damaged) {
      const std::string what = what_failed(source.anchor, location);
      forget_library_errors();
      const EvtReader events(reader, location.id, what);
      translator.register_with(reader, events.events, what);
      bool sound = read_events(events, translator, chunk.records, sinks);
      for (found = chunk.records; sound && !chunk.last && !chunk.damaged; found += chunk.records) {
        chunk = file.next();
        sound = read_events(events, translator, chunk.records, sinks);
      }
      if (!sound) chunk.damaged = true;
    }
    if (chunk.damaged) ++translator.repairs.damaged_files;
  }
  translator.close_all();
  pass_to_sinks(translator, sinks);
  if (location.event_count > found) {
    translator.repairs.missing_events += location.event_count - found;
  }
  return translator.repairs;
}

}  // namespace timeloom::otf2
