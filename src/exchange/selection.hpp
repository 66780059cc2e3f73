// The part of a run that is converted: --from, --until, --thread, --only-my-code.
//
// Plain values and functions, for any thread. Throws Error where nothing is left.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "core/window.hpp"
#include "exchange/names.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::exchange {

struct Selection {
  Window window;                     // times since the start of the run; or regions
  std::vector<std::string> threads;  // names or numbers; empty: all
  bool only_my_code = false;
  std::vector<Category> left_out{};  // regions of these
  bool as_run = false;               // the run lasts as long as the window; else its clock stays

  bool everything() const noexcept {
    return !window.any() && threads.empty() && !only_my_code && left_out.empty();
  }
};

// The ids of the selected locations.
std::set<LocationId> chosen_locations(const Selection& selection, const Definitions& definitions);

// For each region, whether it stays. Regions of a category that is left out go. With only_my_code,
// regions of Python's library and of installed packages go, too. User regions, tasks of engines and
// Timeloom's own regions stay.
std::vector<bool> chosen_regions(const Selection& selection, const Definitions& definitions);

// The run without the parts that are not selected. A region that is open when the window starts is
// entered there, with its parameters; a region that is open when it ends is left there. The time of
// a region that is left out counts for its caller. `run` outlives the result. A window of regions
// reads the run once to find them.
std::unique_ptr<RunSource> select(RunSource& run, const Selection& selection, unsigned threads);

// The same for call paths, which have no times. REQUIRES: no window.
profile::CallTree select(profile::CallTree tree, const Selection& selection);

}  // namespace timeloom::exchange
