// Reads the definitions of an archive.
//
// An archive may number its definitions freely; core counts from 0. References maps the former to
// the latter. Filled once, then only read, by any thread. Throws Error.
#pragma once

#include "core/definitions.hpp"
#include "core/memory/memory_attributes.hpp"
#include "core/waiting_metric.hpp"
#include "formats/otf2/otf2_library.hpp"
#include "formats/otf2/read/otf2_anchor.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace timeloom::otf2 {

inline constexpr std::uint32_t kNoIndex = UINT32_MAX;

// Maps the references of one kind of definition to indices of a vector in Definitions.
class ReferenceTable {
 public:
  // False if the reference exists already.
  bool add(std::uint32_t reference, std::uint32_t index);
  std::uint32_t find(std::uint32_t reference) const {
    if (reference < dense_.size()) return dense_[reference];
    return find_sparse(reference);
  }
  // The references by index. REQUIRES: indices are less than `count`, and each has a reference.
  std::vector<std::uint32_t> inverse(std::size_t count) const;

 private:
  std::uint32_t find_sparse(std::uint32_t reference) const;
  std::vector<std::uint32_t> dense_;  // most archives count from 0
  std::unordered_map<std::uint32_t, std::uint32_t> sparse_;
};

template <std::size_t kCount>
constexpr std::array<OTF2_AttributeRef, kCount> no_attributes() {
  std::array<OTF2_AttributeRef, kCount> none{};
  none.fill(OTF2_UNDEFINED_ATTRIBUTE);
  return none;
}

struct References {
  ReferenceTable strings;
  ReferenceTable regions;
  ReferenceTable groups;
  ReferenceTable contexts;  // of location groups that are contexts of accelerators
  ReferenceTable parameters;
  ReferenceTable communicators;
  std::unordered_map<OTF2_CommRef, std::vector<LocationId>> teams;  // of threads: their members
  std::unordered_map<OTF2_MetricRef, std::vector<std::uint32_t>> metrics;  // class or instance
  ReferenceTable io_handles;
  ReferenceTable io_files;       // the strings with their names
  ReferenceTable io_interfaces;  // values of IoParadigm
  OTF2_AttributeRef offset = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef process_id = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef waiting = OTF2_UNDEFINED_ATTRIBUTE;
  std::array<OTF2_AttributeRef, kWaitingCauses> causes =
      no_attributes<kWaitingCauses>();  // by WaitingCause
  bool has_causes = false;
  // By number; those that are not defined are OTF2_UNDEFINED_ATTRIBUTE.
  std::array<OTF2_AttributeRef, kMemoryAttributes> memory = no_attributes<kMemoryAttributes>();
  bool has_memory = false;
};

struct CloseReader {
  void operator()(OTF2_Reader* reader) const { OTF2_Reader_Close(reader); }
};
using ReaderHandle = std::unique_ptr<OTF2_Reader, CloseReader>;

// A handle that may be used by several threads. Throws Error.
ReaderHandle open_reader(const Anchor& anchor);

// Throws Error when a definition is damaged, or definitions contradict each other.
void read_definitions(OTF2_Reader* reader, const Anchor& anchor, Definitions& definitions,
                      References& references);

// The properties of an archive, under their names there. Throws Error.
std::map<std::string, std::string> properties_of(OTF2_Reader* reader, const std::string& what);

// Reads the markers. Returns false where damaged ones were left out.
bool read_markers(OTF2_Reader* reader, const Anchor& anchor, Definitions& definitions);

}  // namespace timeloom::otf2
