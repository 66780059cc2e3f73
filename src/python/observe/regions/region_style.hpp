// How regions are called and described: the choices of the setting region-names.
//
// Constant values, one for each folder src/doors/NAME/launch: kNameNames. For any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/definitions.hpp"
#include "python/observe/regions/label.hpp"

namespace timeloom::python {

struct RegionStyle {
  std::string_view name;  // the choice of region-names
  // The name of a function of `module` (empty: not known) whose qualified name this is.
  std::string (*function_name)(const std::string& module, std::string_view qualified);
  Paradigm functions;       // of Python functions
  RegionRole user_regions;  // of regions that the program names itself
  bool absolute_files;      // the current directory goes before the file of a function
  // Whether a region of Python's own is left out, by its qualified name.
  bool (*hides)(std::string_view canonical_name);
  // Sets the other names of a region, when the filters have seen it.
  void (*finish)(Region& region);
  // The name under which a region is finally shown; null: its name stays. With labels, regions are
  // told apart by their canonical names, since many have the same label.
  std::string (*label)(const LabelParts& parts, const Region& region,
                       std::string_view arguments) = nullptr;
};

extern const RegionStyle kTimeloomNames;  // module.qualname; always there

// Throws Error where this build has no door with names of that kind.
const RegionStyle& find_region_style(std::string_view name);

}  // namespace timeloom::python
