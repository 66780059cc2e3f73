#include "tools/view/viewed_estimates.hpp"

#include <set>
#include <utility>

#include "core/scaled.hpp"
#include "profile/flat_profile.hpp"
#include "tools/report/estimates/estimates.hpp"
#include "tools/run/json_text.hpp"
#include "tools/samples/run_estimates.hpp"
#include "view/answers/range_tree.hpp"

namespace timeloom::tools {

std::string estimates_for_viewer(const std::filesystem::path& run, const Definitions& definitions,
                                 const view::Index& index, const std::vector<std::uint32_t>& tracks,
                                 std::uint64_t from, std::uint64_t to) {
  SamplePart part;
  std::set<LocationId>& chosen = part.locations.emplace();
  for (const std::uint32_t track : tracks) {
    if (track < definitions.locations.size()) chosen.insert(definitions.locations[track].id);
  }
  const auto ns_of = [&](std::uint64_t ticks) {
    return scaled(ticks, kNanoseconds, definitions.clock.ticks_per_second);
  };
  part.from = ns_of(from);
  part.until = to == view::kLastTime ? UINT64_MAX : ns_of(to);
  profile::CallTree tree = view::range_tree(index, definitions, from, to);
  add_estimates(tree, run, part);
  const auto filter = [&](const Location& location) { return chosen.contains(location.id); };
  const Estimates estimates(tree, filter);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : profile::flat_profile(tree, profile::sum_locations(tree, filter))) {
    if (!row.region.defined()) continue;
    const Estimate own = estimates.own_of(row.region), total = estimates.total_of(row.region);
    if (!own.any() && !total.any()) continue;
    const double per_second = static_cast<double>(definitions.clock.ticks_per_second);
    const double below = estimates.below_of(row.region).seconds * per_second;
    rows.push_back({{"region", row.region.value()},
                    {"own", row.totals.exclusive},
                    {"own_error", own.error() * per_second},
                    {"total", static_cast<double>(row.totals.inclusive) + below},
                    {"total_error", total.error() * per_second},
                    {"samples", own.samples}});
  }
  nlohmann::ordered_json json;
  json["functions"] = std::move(rows);
  return json_text(json);
}

}  // namespace timeloom::tools
