// Tells regions of the program from other regions of a CUBE profile.
//
// Plain functions. They throw only std::bad_alloc.
#pragma once

#include <string>
#include <vector>

#include "formats/cube/cube_model.hpp"
#include "formats/cube/profile_names.hpp"

namespace timeloom::cube {

// True for a region of the program whose name or role matches one of the kinds below; save() marks
// these regions.
inline bool is_marked(const Region& region) {
  return find_attribute(region.attributes, kOfProgram) != nullptr;
}

// True for nodes that a measurement system adds to the call tree to shape it: the program as a
// whole, THREADS, and the time in which recording was off.
inline bool is_structure(const Region& region) {
  if (region.role != kArtificialRole || is_marked(region)) return false;
  // Such nodes have no group. Timeloom's tasks have one, even where a tool has dropped the mark.
  if (region.paradigm.find(':') != std::string::npos) return false;
  const bool made_by_user = region.paradigm.starts_with("user") && region.name != kOffName;
  return !made_by_user;
}

// True for one execution of a dynamic region, which has its own node.
inline bool is_execution(const Region& region) {
  const bool named_so =
      region.name.starts_with("instance=") || region.name.starts_with("iteration=");
  return named_so && !is_marked(region);
}

// True for the region that stands for the call paths beyond a limit.
inline bool is_collapsed(const Region& region) {
  return region.name == kCollapsedName && region.paradigm == "user" && region.file.empty() &&
         !is_marked(region);
}

inline bool is_of_program(const Region& region) {
  return !is_structure(region) && !is_execution(region) && !is_collapsed(region);
}

// Maps the regions of the file to ids in Timeloom's definitions, which contain regions of the
// program only; undefined: not such a region.
inline std::vector<RegionId> region_ids(const Cube& cube) {
  std::vector<RegionId> ids;
  std::uint32_t next = 0;
  for (const Region& region : cube.regions) {
    ids.push_back(is_of_program(region) ? RegionId{next++} : RegionId{});
  }
  return ids;
}

}  // namespace timeloom::cube
