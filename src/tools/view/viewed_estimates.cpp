#include "tools/view/viewed_estimates.hpp"

#include <map>
#include <set>
#include <utility>

#include "core/scaled.hpp"
#include "profile/flat_profile.hpp"
#include "tools/report/estimates/estimates.hpp"
#include "tools/run/json_text.hpp"
#include "tools/samples/run_estimates.hpp"
#include "view/answers/range_tree.hpp"

namespace timeloom::tools {
namespace {

using Json = nlohmann::ordered_json;

SamplePart part_of(const Definitions& definitions, const std::vector<std::uint32_t>& tracks,
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
  return part;
}

// The numbers of call paths: of the index, and behind them of the paths that estimates have added.
class PathNumbers {
 public:
  explicit PathNumbers(const view::Index& index) {
    for (const auto& path : index.paths()) add(path.parent, path.region);
  }
  // REQUIRES: the parent has been asked for before.
  std::uint32_t of(std::uint32_t node, const profile::Node& of_tree) {
    const std::uint32_t parent =
        of_tree.parent.defined() ? numbers_[of_tree.parent.value()] : view::kNone;
    const std::uint32_t region = of_tree.region.defined() ? of_tree.region.value() : view::kNone;
    const auto found = known_.find({parent, region});
    const bool is_new = found == known_.end();
    numbers_[node] = is_new ? add(parent, region) : found->second;
    if (is_new) parents_.push_back(parent), regions_.push_back(region);
    return numbers_[node];
  }
  Json added() const { return {{"parent", parents_}, {"region", regions_}}; }

 private:
  std::uint32_t add(std::uint32_t parent, std::uint32_t region) {
    known_.try_emplace({parent, region}, next_);
    return next_++;
  }

  std::uint32_t next_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_;  // by parent and region
  std::map<std::uint32_t, std::uint32_t> numbers_;                          // by node
  std::vector<std::uint32_t> parents_, regions_;                            // of the added ones
};

class EstimateRows {
 public:
  EstimateRows(const profile::CallTree& tree, const profile::LocationFilter& filter)
      : tree_(tree),
        per_second_(static_cast<double>(tree.definitions.clock.ticks_per_second)),
        totals_(profile::sum_locations(tree, filter)),
        estimates_(tree, filter) {}

  Json functions() const {
    Json rows = Json::array();
    for (const auto& row : profile::flat_profile(tree_, totals_)) {
      if (!row.region.defined()) continue;
      const double below = estimates_.below_of(row.region).seconds * per_second_;
      add(rows, {{"region", row.region.value()}}, row.totals, below, estimates_.own_of(row.region),
          estimates_.total_of(row.region));
    }
    return rows;
  }
  Json paths(PathNumbers& numbers) const {
    Json rows = Json::array();
    for (std::uint32_t i = 0; i < tree_.nodes.size(); ++i) {
      const profile::NodeId node{i};
      add(rows, {{"path", numbers.of(i, tree_.nodes[i])}}, totals_[i], 0, estimates_.own_of(node),
          estimates_.total_of(node));
    }
    return rows;
  }

 private:
  // Nothing, where all was measured.
  void add(Json& rows, Json row, const profile::Totals& times, double below, const Estimate& own,
           const Estimate& total) const {
    if (!own.any() && !total.any()) return;
    row["own"] = times.exclusive;
    row["own_error"] = own.error() * per_second_;
    row["total"] = static_cast<double>(times.inclusive) + below;
    row["total_error"] = total.error() * per_second_;
    row["samples"] = own.samples;
    rows.push_back(std::move(row));
  }

  const profile::CallTree& tree_;
  double per_second_;
  std::vector<profile::Totals> totals_;
  Estimates estimates_;
};

}  // namespace

std::string estimates_for_viewer(const std::filesystem::path& run, const Definitions& definitions,
                                 const view::Index& index, const std::vector<std::uint32_t>& tracks,
                                 std::uint64_t from, std::uint64_t to) {
  const SamplePart part = part_of(definitions, tracks, from, to);
  profile::CallTree tree = view::range_tree(index, definitions, from, to);
  add_estimates(tree, run, part);
  const EstimateRows rows(
      tree, [&](const Location& location) { return part.locations->contains(location.id); });
  PathNumbers numbers(index);
  Json json;
  json["functions"] = rows.functions();
  json["paths"] = rows.paths(numbers);
  json["added"] = numbers.added();
  return json_text(json);
}

}  // namespace timeloom::tools
