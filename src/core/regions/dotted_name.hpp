// Names of Python functions, for code that knows some of them: "threading.Thread.join". Runs
// recorded with `--region-names scorep` have a colon before the last part: "threading.Thread:join".
//
// A pure function, for any thread. Throws nothing but std::bad_alloc.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace timeloom {

// The name with a dot for each colon: one spelling for the names of all runs.
inline std::string dotted_name(std::string_view name) {
  std::string dotted(name);
  std::ranges::replace(dotted, ':', '.');
  return dotted;
}

}  // namespace timeloom
