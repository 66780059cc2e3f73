#include "formats/otf2/read/definition_reader.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "formats/otf2/read/chunk_check.hpp"
#include "formats/otf2/read/raw_definitions.hpp"

namespace timeloom::otf2 {

namespace {

// Text of the library, which it allocated.
std::string take_text(char* text) {
  std::string result = text == nullptr ? "" : text;
  std::free(text);
  return result;
}

// The library turns names into upper case; Timeloom's are restored.
std::string property_name(std::string name) {
  if (name.starts_with("TIMELOOM::")) {
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

void read_anchor_texts(OTF2_Reader* reader, const std::string& what, Definitions& definitions) {
  char* text = nullptr;
  check(OTF2_Reader_GetMachineName(reader, &text), what);
  definitions.machine_name = take_text(text);
  check(OTF2_Reader_GetCreator(reader, &text), what);
  definitions.creator = take_text(text);
  for (const auto& [name, value] : properties_of(reader, what)) {
    definitions.properties[property_name(name)] = value;
  }
}

// The writer's references of parameters are their numbers.
void restore_float_parameters(Definitions& definitions) {
  const auto found = definitions.properties.find(kFloatParameters);
  if (found == definitions.properties.end()) return;
  const std::string text = std::move(found->second);
  definitions.properties.erase(found);
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end;) {
    std::size_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number >= definitions.parameters.size()) return;
    Parameter& parameter = definitions.parameters[number];
    if (parameter.type == ParameterType::kString) parameter.type = ParameterType::kFloat;
    at = behind == end ? end : behind + 1;
  }
}

struct Markers {
  Definitions* definitions;
  std::unordered_map<OTF2_MarkerRef, std::string> categories;
  std::exception_ptr failure = nullptr;  // exceptions must not pass through the library

  template <typename Function>
  OTF2_CallbackCode keep(const Function& function) noexcept {
    try {
      function();
      return OTF2_CALLBACK_SUCCESS;
    } catch (...) {
      failure = std::current_exception();
      return OTF2_CALLBACK_INTERRUPT;
    }
  }
};

OTF2_CallbackCode on_def_marker(void* data, OTF2_MarkerRef self, const char*, const char* category,
                                OTF2_MarkerSeverity) noexcept {
  auto& markers = *static_cast<Markers*>(data);
  return markers.keep([&] { markers.categories[self] = category; });
}

OTF2_CallbackCode on_marker(void* data, OTF2_TimeStamp time, OTF2_TimeStamp, OTF2_MarkerRef marker,
                            OTF2_MarkerScope scope, std::uint64_t where,
                            const char* text) noexcept {
  auto& markers = *static_cast<Markers*>(data);
  return markers.keep([&] {
    Marker result;
    result.time = Timestamp{time};
    if (scope == OTF2_MARKER_SCOPE_LOCATION) result.location = LocationId{where};
    result.text = *text != '\0' ? text : markers.categories[marker];
    markers.definitions->markers.push_back(std::move(result));
  });
}

}  // namespace

bool ReferenceTable::add(std::uint32_t reference, std::uint32_t index) {
  constexpr std::uint32_t kDense = 1u << 20;  // a damaged reference must not cost memory
  if (find(reference) != kNoIndex) return false;
  if (reference >= kDense) return sparse_.emplace(reference, index).second;
  if (reference >= dense_.size()) dense_.resize(reference + 1, kNoIndex);
  dense_[reference] = index;
  return true;
}

std::uint32_t ReferenceTable::find_sparse(std::uint32_t reference) const {
  const auto found = sparse_.find(reference);
  return found == sparse_.end() ? kNoIndex : found->second;
}

std::vector<std::uint32_t> ReferenceTable::inverse(std::size_t count) const {
  std::vector<std::uint32_t> references(count);
  for (std::uint32_t i = 0; i < dense_.size(); ++i) {
    if (dense_[i] != kNoIndex) references.at(dense_[i]) = i;
  }
  for (const auto& [reference, index] : sparse_) references.at(index) = reference;
  return references;
}

std::map<std::string, std::string> properties_of(OTF2_Reader* reader, const std::string& what) {
  std::uint32_t count = 0;
  char** names = nullptr;
  check(OTF2_Reader_GetPropertyNames(reader, &count, &names), what);
  const std::unique_ptr<char*, decltype(&std::free)> owned(names, &std::free);
  std::map<std::string, std::string> properties;
  for (std::uint32_t i = 0; i < count; ++i) {
    char* text = nullptr;
    check(OTF2_Reader_GetProperty(reader, names[i], &text), what);
    properties[names[i]] = take_text(text);
  }
  return properties;
}

ReaderHandle open_reader(const Anchor& anchor) {
  catch_library_errors();
  forget_library_errors();
  const std::string what = "cannot read the trace " + anchor.path.string();
  ReaderHandle reader(check(OTF2_Reader_Open(anchor.fixed_path().c_str()), what));
  check(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()), what);
  check(set_locks(reader.get()), what);
  return reader;
}

void read_definitions(OTF2_Reader* reader, const Anchor& anchor, Definitions& definitions,
                      References& references) {
  const std::string what = "cannot read the definitions of " + anchor.path.string();
  count_records(anchor.global_definitions(), FileKind::kGlobalDefinitions, anchor.definition_chunk);
  read_anchor_texts(reader, what, definitions);
  RawDefinitions raw;
  raw.read(reader, what);
  raw.resolve(definitions, references, what);
  restore_float_parameters(definitions);
}

bool read_markers(OTF2_Reader* reader, const Anchor& anchor, Definitions& definitions) {
  if (!anchor.markers().exists()) return true;
  ChunkCheck file(anchor.markers(), FileKind::kMarkers, anchor.definition_chunk);
  ChunkCheck::Result chunk = file.next();
  std::uint64_t sound = chunk.records;
  for (; !chunk.last && !chunk.damaged; sound += chunk.records) chunk = file.next();
  if (sound == 0) return !chunk.damaged;

  const std::string what = "cannot read the markers of " + anchor.path.string();
  Markers markers{&definitions, {}, nullptr};
  OTF2_MarkerReader* marker_reader = check(OTF2_Reader_GetMarkerReader(reader), what);
  const std::unique_ptr<OTF2_MarkerReaderCallbacks, decltype(&OTF2_MarkerReaderCallbacks_Delete)>
      callbacks(OTF2_MarkerReaderCallbacks_New(), &OTF2_MarkerReaderCallbacks_Delete);
  OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(callbacks.get(), on_def_marker);
  OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks.get(), on_marker);
  check(OTF2_Reader_RegisterMarkerCallbacks(reader, marker_reader, callbacks.get(), &markers),
        what);
  std::uint64_t read = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadMarkers(reader, marker_reader, sound, &read);
  if (markers.failure) std::rethrow_exception(markers.failure);
  check(code, what);
  check(OTF2_Reader_CloseMarkerReader(reader, marker_reader), what);
  std::stable_sort(definitions.markers.begin(), definitions.markers.end(),
                   [](const Marker& a, const Marker& b) { return a.time < b.time; });
  return !chunk.damaged;
}

}  // namespace timeloom::otf2
