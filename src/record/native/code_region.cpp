#include "record/native/code_region.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "record/measurement_state.hpp"
#include "record/native/mapped_object.hpp"
#include "record/region_state.hpp"

namespace timeloom::record {
namespace {

Region plain_region(const CodeRegion& code) {
  Region region;
  region.group = code.group;
  region.paradigm = code.paradigm;
  region.role = code.role;
  return region;
}

RegionId outside_of_objects(const CodeRegion& code) {
  Region region = plain_region(code);
  region.name = hexadecimal(reinterpret_cast<std::uintptr_t>(code.address));
  if (!code.construct.empty()) region.name = std::string(code.construct) + " @" + region.name;
  region.canonical_name = region.name;
  return region_id(region);
}

// The object is looked up before the mutex is taken: the dynamic linker has a lock of its own.
RegionId code_region_id(const CodeRegion& code) {
  const std::optional<MappedObject> mapped = mapped_object(code.address);
  if (!mapped) return outside_of_objects(code);
  Region region = plain_region(code);
  if (region.group.empty()) region.group = file_name(mapped->object);
  region.name = code.construct.empty() ? stand_in_name(mapped->object, mapped->address)
                                       : std::string(code.construct);
  region.canonical_name = region.name;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  CodeAddress address{s.definitions.object(mapped->object), mapped->address,
                      std::string(code.construct)};
  return s.definitions.region(region, std::move(address));
}

}  // namespace

void define_code_region(std::uint64_t& state, const CodeRegion& region) {
  const std::uint64_t number = measurement_number();
  const RegionId id = code_region_id(region);
  define(id);
  __atomic_store_n(&state, number << kNumberShift | id.value(), __ATOMIC_RELAXED);
}

}  // namespace timeloom::record
