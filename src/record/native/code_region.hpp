// Regions of compiled code, known by an address. Names, files and lines are found while weaving:
// the spool holds the object in which the address lies, and the address in it.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/definitions.hpp"

namespace timeloom::record {

struct CodeRegion {
  const void* address = nullptr;  // in a mapped object of this process
  // Empty: the region is the function at the address. Else the region is a construct of the
  // function and is named "CONSTRUCT @file:line", or "CONSTRUCT function" if no lines are known.
  std::string_view construct = {};
  std::string_view group = {};  // empty: the file name of the object
  Paradigm paradigm = Paradigm::kCompiler;
  RegionRole role = RegionRole::kFunction;
};

// Defines the region in the running measurement, and its object once. Sets `state` as define_in()
// does (region_state.hpp), so that known_word() finds its enter word. An address that lies in no
// object gives a region with the address as its name. A caller that keeps `state` with an address
// forgets it when the object is unloaded, since another object may be mapped there. Any thread, but
// not in a callback of dl_iterate_phdr(). Throws std::bad_alloc.
void define_code_region(std::uint64_t& state, const CodeRegion& region);

}  // namespace timeloom::record
