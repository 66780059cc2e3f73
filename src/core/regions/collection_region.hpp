// The region of a collection of garbage. Pure functions, for any thread.
#pragma once

#include "core/definitions.hpp"

namespace timeloom {

// The counter with a value at the end of each collection.
inline constexpr char kObjectsCollected[] = "gc.collected";

// The same region as the C function gc.collect() has with --c-functions.
inline Region collection_region() {
  Region region;
  region.name = region.canonical_name = "gc.collect";
  region.group = "gc";
  region.paradigm = Paradigm::kCompiler;
  region.role = RegionRole::kFunction;
  return region;
}

inline bool is_collection(const Region& region) noexcept {
  return region.name == "gc.collect" && region.group == "gc";
}

}  // namespace timeloom
