// Callbacks of OTF2's library that sum up all records, kind by kind.
//
// Used by one thread at a time. Callbacks throw nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "core/checksum.hpp"
#include "formats/otf2/otf2_library.hpp"
#include "formats/otf2/read/record_sums.hpp"

namespace timeloom::otf2 {

// The value as a number; what a union has behind it is not defined.
inline std::uint64_t number_of(OTF2_Type type, const OTF2_AttributeValue& value) {
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

inline Reading& reading(void* data) { return *static_cast<Reading*>(data); }

inline void Reading::add_attributes(OTF2_LocationRef location, OTF2_AttributeList* attributes) {
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

inline Owned<OTF2_EvtReaderCallbacks> event_callbacks() {
  Owned<OTF2_EvtReaderCallbacks> all(OTF2_EvtReaderCallbacks_New(),
                                     &OTF2_EvtReaderCallbacks_Delete);
  TIMELOOM_OTF2_EVENTS(TIMELOOM_EVENT)
  TIMELOOM_EVENT(Unknown)
  return all;
}

inline Owned<OTF2_GlobalDefReaderCallbacks> global_callbacks() {
  Owned<OTF2_GlobalDefReaderCallbacks> all(OTF2_GlobalDefReaderCallbacks_New(),
                                           &OTF2_GlobalDefReaderCallbacks_Delete);
  TIMELOOM_OTF2_GLOBAL_DEFINITIONS(TIMELOOM_GLOBAL)
  TIMELOOM_OTF2_DEFINITIONS(TIMELOOM_GLOBAL)
  TIMELOOM_GLOBAL(Unknown)
  return all;
}

inline Owned<OTF2_DefReaderCallbacks> local_callbacks() {
  Owned<OTF2_DefReaderCallbacks> all(OTF2_DefReaderCallbacks_New(),
                                     &OTF2_DefReaderCallbacks_Delete);
  TIMELOOM_OTF2_DEFINITIONS(TIMELOOM_LOCAL)
  TIMELOOM_LOCAL(Unknown)
  return all;
}

inline Owned<OTF2_MarkerReaderCallbacks> marker_callbacks() {
  Owned<OTF2_MarkerReaderCallbacks> all(OTF2_MarkerReaderCallbacks_New(),
                                        &OTF2_MarkerReaderCallbacks_Delete);
  TIMELOOM_MARKER(DefMarker)
  TIMELOOM_MARKER(Marker)
  TIMELOOM_MARKER(Unknown)
  return all;
}

#undef TIMELOOM_EVENT
#undef TIMELOOM_GLOBAL
#undef TIMELOOM_LOCAL
#undef TIMELOOM_MARKER

}  // namespace timeloom::otf2
