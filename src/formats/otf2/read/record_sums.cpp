#include "formats/otf2/read/record_sums.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "core/checksum.hpp"
#include "formats/otf2/otf2.hpp"
#include "formats/otf2/read/chunk_check.hpp"
#include "formats/otf2/read/location_reader.hpp"

namespace timeloom::otf2 {

namespace {

constexpr std::uint64_t kBatch = 1 << 16;

// The value as a number; what a union has behind it is not defined.
std::uint64_t number_of(OTF2_Type type, const OTF2_AttributeValue& value) {
  switch (type) {
    case OTF2_TYPE_UINT8:
    case OTF2_TYPE_INT8: return value.uint8;
    case OTF2_TYPE_UINT16:
    case OTF2_TYPE_INT16: return value.uint16;
    case OTF2_TYPE_UINT64:
    case OTF2_TYPE_INT64:
    case OTF2_TYPE_DOUBLE:
    case OTF2_TYPE_LOCATION: return value.uint64;
    default: return value.uint32;
  }
}

// The arguments of a callback. The number before an array is its length, the number before a value
// its type; values in an array have the array before as their types.
class RecordHash {
 public:
  explicit RecordHash(std::uint64_t start) : hash_(start) {}

  template <typename T>
  void add(const T& value) {
    if constexpr (std::is_same_v<T, OTF2_AttributeValue>) {
      put(number_of(static_cast<OTF2_Type>(number_), value));
    } else if constexpr (std::is_same_v<T, const char*>) {
      for (const char* c = value; *c != '\0'; ++c) put(static_cast<unsigned char>(*c));
      put(UINT64_MAX);
    } else if constexpr (std::is_pointer_v<T>) {
      for (std::uint64_t i = 0; i < number_; ++i) put_element(value[i], i);
      if constexpr (std::is_same_v<T, const OTF2_Type*>) types_ = value;
    } else {
      number_ = static_cast<std::uint64_t>(value);
      put(number_);
    }
  }
  void add_to(RecordSum& sum) const {
    ++sum.records;
    sum.hash += hash_;  // in any order: places are in the hash
  }

 private:
  void put(std::uint64_t part) { hash_ = mix(hash_, part); }
  template <typename T>
  void put_element(const T& element, std::uint64_t place) {
    if constexpr (std::is_same_v<T, OTF2_MetricValue>) {
      put(element.unsigned_int);
    } else if constexpr (std::is_same_v<T, OTF2_AttributeValue>) {
      put(number_of(types_[place], element));
    } else {
      put(element);
    }
  }

  std::uint64_t hash_;
  std::uint64_t number_ = 0;
  const OTF2_Type* types_ = nullptr;
};

// What the library passes to callbacks.
struct Reading {
  RecordSums sums{};
  std::uint64_t place = 0;  // records so far, of the location

  RecordSum& of(RecordKind kind) { return sums[static_cast<std::size_t>(kind)]; }
  template <typename... Arguments>
  OTF2_CallbackCode add(RecordKind kind, std::uint64_t where, const Arguments&... arguments) {
    RecordHash hash(mix(where, ++place));
    (hash.add(arguments), ...);
    hash.add_to(of(kind));
    return OTF2_CALLBACK_SUCCESS;
  }
  void add_attributes(OTF2_LocationRef location, OTF2_AttributeList* attributes);
};

Reading& reading(void* data) { return *static_cast<Reading*>(data); }

void Reading::add_attributes(OTF2_LocationRef location, OTF2_AttributeList* attributes) {
  const std::uint32_t count = OTF2_AttributeList_GetNumberOfElements(attributes);
  for (std::uint32_t i = 0; i < count; ++i) {
    OTF2_AttributeRef attribute = 0;
    OTF2_Type type = OTF2_TYPE_NONE;
    OTF2_AttributeValue value{};
    OTF2_AttributeList_GetAttributeByIndex(attributes, i, &attribute, &type, &value);
    (void)add(RecordKind::kAttributeList, location, attribute, type, value);
  }
}

template <RecordKind kKind, typename... Arguments>
OTF2_CallbackCode on_event(OTF2_LocationRef location, OTF2_TimeStamp time, std::uint64_t,
                           void* data, OTF2_AttributeList* attributes,
                           Arguments... arguments) noexcept {
  if (attributes != nullptr) reading(data).add_attributes(location, attributes);
  return reading(data).add(kKind, location, time, arguments...);
}

template <RecordKind kKind, typename... Arguments>
OTF2_CallbackCode on_record(void* data, Arguments... arguments) noexcept {
  return reading(data).add(kKind, 0, arguments...);
}

// Their types are taken from the library's functions, which register callbacks.
template <typename... Arguments>
using EventCallback = OTF2_CallbackCode (*)(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void*,
                                            OTF2_AttributeList*, Arguments...);
template <RecordKind kKind, typename Callbacks, typename... Arguments>
void on_events(Callbacks* all, OTF2_ErrorCode (*set)(Callbacks*, EventCallback<Arguments...>)) {
  set(all, on_event<kKind, Arguments...>);
}
template <RecordKind kKind, typename Callbacks, typename... Arguments>
void on_records(Callbacks* all,
                OTF2_ErrorCode (*set)(Callbacks*, OTF2_CallbackCode (*)(void*, Arguments...))) {
  set(all, on_record<kKind, Arguments...>);
}

template <typename Callbacks>
using Owned = std::unique_ptr<Callbacks, void (*)(Callbacks*)>;

#define TIMELOOM_EVENT(kind) \
  on_events<RecordKind::k##kind>(all.get(), OTF2_EvtReaderCallbacks_Set##kind##Callback);
#define TIMELOOM_GLOBAL(kind) \
  on_records<RecordKind::k##kind>(all.get(), OTF2_GlobalDefReaderCallbacks_Set##kind##Callback);
#define TIMELOOM_LOCAL(kind) \
  on_records<RecordKind::k##kind>(all.get(), OTF2_DefReaderCallbacks_Set##kind##Callback);
#define TIMELOOM_MARKER(kind) \
  on_records<RecordKind::k##kind>(all.get(), OTF2_MarkerReaderCallbacks_Set##kind##Callback);

Owned<OTF2_EvtReaderCallbacks> event_callbacks() {
  Owned<OTF2_EvtReaderCallbacks> all(OTF2_EvtReaderCallbacks_New(),
                                     &OTF2_EvtReaderCallbacks_Delete);
  TIMELOOM_OTF2_EVENTS(TIMELOOM_EVENT)
  TIMELOOM_EVENT(Unknown)
  return all;
}

Owned<OTF2_GlobalDefReaderCallbacks> global_callbacks() {
  Owned<OTF2_GlobalDefReaderCallbacks> all(OTF2_GlobalDefReaderCallbacks_New(),
                                           &OTF2_GlobalDefReaderCallbacks_Delete);
  TIMELOOM_OTF2_GLOBAL_DEFINITIONS(TIMELOOM_GLOBAL)
  TIMELOOM_OTF2_DEFINITIONS(TIMELOOM_GLOBAL)
  TIMELOOM_GLOBAL(Unknown)
  return all;
}

Owned<OTF2_DefReaderCallbacks> local_callbacks() {
  Owned<OTF2_DefReaderCallbacks> all(OTF2_DefReaderCallbacks_New(),
                                     &OTF2_DefReaderCallbacks_Delete);
  TIMELOOM_OTF2_DEFINITIONS(TIMELOOM_LOCAL)
  TIMELOOM_LOCAL(Unknown)
  return all;
}

Owned<OTF2_MarkerReaderCallbacks> marker_callbacks() {
  Owned<OTF2_MarkerReaderCallbacks> all(OTF2_MarkerReaderCallbacks_New(),
                                        &OTF2_MarkerReaderCallbacks_Delete);
  TIMELOOM_MARKER(DefMarker)
  TIMELOOM_MARKER(Marker)
  TIMELOOM_MARKER(Unknown)
  return all;
}

class ArchiveSums {
 public:
  explicit ArchiveSums(const Anchor& anchor)
      : anchor_(anchor),
        what_("cannot read the trace " + anchor.path.string()),
        reader_(open_reader(anchor)) {}

  RecordSums take() {
    References references;
    read_definitions(reader_.get(), anchor_, definitions_, references);  // checks the file
    reader_ = open_reader(anchor_);
    add_anchor();
    add_definitions();
    add_markers();
    for (const Location& location : definitions_.locations) {
      ok(OTF2_Reader_SelectLocation(reader_.get(), location.id.value()));
    }
    ok(OTF2_Reader_OpenDefFiles(reader_.get()));
    ok(OTF2_Reader_OpenEvtFiles(reader_.get()));
    for (const Location& location : definitions_.locations) {
      reading_.place = 0;
      add_local_definitions(location);
      reading_.place = 0;
      add_events(location);
    }
    add_files();
    return reading_.sums;
  }

 private:
  void ok(OTF2_ErrorCode code) const { check(code, what_); }

  void add_text(OTF2_ErrorCode (*get)(OTF2_Reader*, char**)) {
    char* text = nullptr;
    ok(get(reader_.get(), &text));
    const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
    if (text != nullptr)
      (void)on_record<RecordKind::kAnchor>(&reading_, const_cast<const char*>(text));
  }

  void add_anchor() {
    add_text(OTF2_Reader_GetMachineName);
    add_text(OTF2_Reader_GetCreator);
    add_text(OTF2_Reader_GetDescription);
    std::map<std::string, std::string> properties = properties_of(reader_.get(), what_);
    for (const auto& [name, value] : properties) {
      (void)on_record<RecordKind::kAnchor>(&reading_, name.c_str(), value.c_str());
    }
    std::uint32_t count = 0;
    ok(OTF2_Reader_GetNumberOfSnapshots(reader_.get(), &count));
    reading_.of(RecordKind::kSnapshot).records = count;
    ok(OTF2_Reader_GetNumberOfThumbnails(reader_.get(), &count));
    reading_.of(RecordKind::kThumbnail).records = count;
  }

  void add_definitions() {
    reading_.place = 0;
    OTF2_GlobalDefReader* all = check(OTF2_Reader_GetGlobalDefReader(reader_.get()), what_);
    ok(OTF2_Reader_RegisterGlobalDefCallbacks(reader_.get(), all, global_callbacks().get(),
                                              &reading_));
    std::uint64_t read = 0;
    ok(OTF2_Reader_ReadGlobalDefinitions(reader_.get(), all, OTF2_UNDEFINED_UINT64, &read));
    ok(OTF2_Reader_CloseGlobalDefReader(reader_.get(), all));
  }

  void add_markers() {
    if (!anchor_.markers().exists()) return;
    const std::uint64_t count =
        count_records(anchor_.markers(), FileKind::kMarkers, anchor_.definition_chunk);
    if (count == 0) return;
    reading_.place = 0;
    OTF2_MarkerReader* all = check(OTF2_Reader_GetMarkerReader(reader_.get()), what_);
    ok(OTF2_Reader_RegisterMarkerCallbacks(reader_.get(), all, marker_callbacks().get(),
                                           &reading_));
    std::uint64_t read = 0;
    ok(OTF2_Reader_ReadMarkers(reader_.get(), all, count, &read));
    ok(OTF2_Reader_CloseMarkerReader(reader_.get(), all));
  }

  void add_local_definitions(const Location& location) {
    const ArchiveFile file = anchor_.local_definitions(location.id);
    if (!file.exists()) return;
    count_records(file, FileKind::kLocalDefinitions, anchor_.definition_chunk);
    OTF2_DefReader* all =
        check(OTF2_Reader_GetDefReader(reader_.get(), location.id.value()), what_);
    ok(OTF2_Reader_RegisterDefCallbacks(reader_.get(), all, local_callbacks().get(), &reading_));
    std::uint64_t read = 0;
    ok(OTF2_Reader_ReadAllLocalDefinitions(reader_.get(), all, &read));
    ok(OTF2_Reader_CloseDefReader(reader_.get(), all));
  }

  void add_events(const Location& location) {
    const ArchiveFile file = anchor_.events(location.id);
    if (!file.exists()) return;
    std::uint64_t left = count_records(file, FileKind::kEvents, anchor_.event_chunk);
    OTF2_EvtReader* all =
        check(OTF2_Reader_GetEvtReader(reader_.get(), location.id.value()), what_);
    ok(OTF2_Reader_RegisterEvtCallbacks(reader_.get(), all, event_callbacks().get(), &reading_));
    for (std::uint64_t read = 1; left > 0 && read > 0; left -= std::min(left, read)) {
      ok(OTF2_Reader_ReadLocalEvents(reader_.get(), all, std::min(left, kBatch), &read));
    }
    ok(OTF2_Reader_CloseEvtReader(reader_.get(), all));
  }

  // Files of snapshots, of thumbnails, and of anybody.
  void add_files() {
    std::set<std::string> known;
    for (const Location& location : definitions_.locations) {
      known.insert(std::to_string(location.id.value()) + ".evt");
      known.insert(std::to_string(location.id.value()) + ".def");
    }
    std::error_code error;
    const auto files = anchor_.directory->fixed_path() / anchor_.path.stem();
    for (const auto& entry : std::filesystem::directory_iterator(files, error)) {
      if (!known.contains(entry.path().filename())) ++reading_.of(RecordKind::kFile).records;
    }
  }

  const Anchor& anchor_;
  const std::string what_;
  ReaderHandle reader_;
  Definitions definitions_;
  Reading reading_;
};

}  // namespace

const char* name_of(RecordKind kind) {
#define TIMELOOM_NAME(kind) #kind,
  static constexpr std::array kNames = {TIMELOOM_OTF2_EVENTS(TIMELOOM_NAME) "AttributeList",
                                        TIMELOOM_OTF2_GLOBAL_DEFINITIONS(TIMELOOM_NAME)
                                            TIMELOOM_OTF2_DEFINITIONS(TIMELOOM_NAME) "DefMarker",
                                        "Marker",
                                        "records of a newer OTF2",
                                        "snapshots",
                                        "thumbnails",
                                        "files of no location",
                                        "texts of the archive"};
#undef TIMELOOM_NAME
  static_assert(kNames.size() == static_cast<std::size_t>(RecordKind::kEnd));
  return kNames[static_cast<std::size_t>(kind)];
}

RecordSums sum_records(const Anchor& anchor) { return ArchiveSums(anchor).take(); }

std::vector<std::string> different_records(const std::filesystem::path& one,
                                           const std::filesystem::path& other) {
  const RecordSums sums = sum_records(read_anchor(one)), others = sum_records(read_anchor(other));
  std::vector<std::string> missing, changed;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const char* name = name_of(static_cast<RecordKind>(i));
    if (sums[i].records != others[i].records) missing.emplace_back(name);
    if (sums[i] != others[i]) changed.emplace_back(name);
  }
  // Where records are missing, others have another place.
  return missing.empty() ? changed : missing;
}

}  // namespace timeloom::otf2
