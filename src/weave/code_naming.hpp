// Gives regions that are known by an address the names of their functions. Done before the
// definitions of processes are unified, so that a function of several processes is one region.
//
// Used by one thread. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/definitions.hpp"
#include "spool/reader.hpp"
#include "symbols/code_names.hpp"

namespace timeloom::weave {

class CodeRegions {
 public:
  // `names`: nullptr leaves all regions under names that contain the object and the address. A rank
  // that converts its own events does so: the weave of the run names its regions.
  explicit CodeRegions(symbols::CodeNames* names) : names_(names) {}

  // The regions of a process, with names.
  std::map<std::uint32_t, Region> named(const spool::ProcessDefinitions& process);

  // Regions of the run without a function's name, and the objects in which they lie.
  std::uint64_t unnamed() const noexcept { return unnamed_.size(); }
  std::string unnamed_objects() const;

 private:
  void name(Region& region, const CodeAddress& code, const CodeObject& object);
  void note_unnamed(Region& region, const CodeAddress& code, const CodeObject& object);

  symbols::CodeNames* names_;
  std::set<std::string> unnamed_;
  std::set<std::string> objects_;
};

}  // namespace timeloom::weave
