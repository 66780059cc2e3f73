#include "tools/diff/diff_rows.hpp"
#include "tools/text/formatted.hpp"

#include <algorithm>
#include <cmath>

#include "core/mpi/mpi_rank.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

using profile::Diff;
using profile::DiffNode;
using profile::DiffRegion;
using profile::DiffSide;
using profile::NodeId;

namespace {

constexpr double kLeastDiffShare = 0.01;  // of the run, for a region to be too slow
// By which something is slower, unless every difference counts. Two equal runs differ by that much.
constexpr double kLeastDifference = 0.001;  // seconds

constexpr std::size_t kMostNamed = 5;

bool is_not_timed(const DiffRegion& region) {
  return region.before.at_least || region.after.at_least;
}

std::string diff_region_name(const DiffRegion& region) {
  return region.name.empty() ? "(more call paths)" : region.name;
}

DiffRow row_of(const DiffRegion& region, const DiffSide& before, const DiffSide& after,
               bool by_work) {
  const auto own = [&](const DiffSide& side) { return by_work ? side.working : side.exclusive; };
  return {diff_region_name(region),
          NodeId{},
          region.file,
          region.line,
          before,
          after,
          own(before),
          own(after)};
}

void finish_rows(DiffRows& rows, const Diff& diff, const DiffRowOptions& options) {
  const double least = longer(diff, options.by_work) * options.min_percent / 100;
  rows.hidden += std::erase_if(
      rows.rows, [&](const DiffRow& row) { return std::abs(row.difference()) < least; });
  if (options.by_work) {
    rows.within_spread = std::erase_if(rows.rows, [&](const DiffRow& row) {
      return !beyond_spread(diff, row.before.working_range, row.after.working_range);
    });
  }
  if (!options.complete) {
    rows.within_error = std::erase_if(rows.rows, [&](const DiffRow& row) {
      return !beyond_error(diff, row.own_before, row.own_after);
    });
  }
  std::ranges::stable_sort(rows.rows, [](const DiffRow& a, const DiffRow& b) {
    return std::abs(a.difference()) > std::abs(b.difference());
  });
}

std::uint64_t ranks_of(const Definitions& definitions) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      definitions.groups, [](const LocationGroup& one) { return job_rank_of(one).has_value(); }));
}

}  // namespace

std::optional<DiffParts> differing_parts(const Definitions& before, const Definitions& after) {
  const RunFacts facts_before = facts_of(before), facts_after = facts_of(after);
  const std::uint64_t ranks_before = ranks_of(before), ranks_after = ranks_of(after);
  const bool both_have_ranks = ranks_before > 0 && ranks_after > 0;
  for (const DiffParts& parts :
       {DiffParts{"rank", both_have_ranks ? ranks_before : 0, both_have_ranks ? ranks_after : 0},
        DiffParts{"process", facts_before.processes, facts_after.processes},
        DiffParts{"thread", facts_before.threads, facts_after.threads}}) {
    if (parts.before != parts.after && parts.before > 0 && parts.after > 0) return parts;
  }
  return std::nullopt;
}

std::string_view change_name(Change change) {
  switch (change) {
    case Change::kSame: return "same";
    case Change::kSlower: return "slower";
    case Change::kFaster: return "faster";
    case Change::kNew: return "new";
    case Change::kGone: return "gone";
  }
  return "";
}

Change DiffRow::change() const {
  if (!before.there) return Change::kNew;
  if (!after.there) return Change::kGone;
  if (difference() == 0) return Change::kSame;
  return difference() > 0 ? Change::kSlower : Change::kFaster;
}

DiffRows region_rows(const Diff& diff, const DiffRowOptions& options) {
  DiffRows rows;
  for (const DiffRegion& region : diff.regions) {
    if (!region.before.there && !region.after.there) continue;
    rows.rows.push_back(row_of(region, region.before, region.after, options.by_work));
  }
  finish_rows(rows, diff, options);
  return rows;
}

DiffRows call_path_rows(const Diff& diff, const DiffRowOptions& options) {
  DiffRows rows;
  std::vector<std::size_t> nodes;
  const double least = longer(diff, options.by_work) * options.min_percent / 100;
  for (std::size_t i = 0; i < diff.nodes.size(); ++i) {
    const DiffNode& node = diff.nodes[i];
    if (!node.before.there && !node.after.there) continue;
    DiffRow row = row_of(diff.regions[node.region], node.before, node.after, options.by_work);
    if (std::abs(row.difference()) < least) {
      ++rows.hidden;
      continue;
    }
    row.node = NodeId{static_cast<std::uint32_t>(i)};
    rows.rows.push_back(std::move(row));
  }
  finish_rows(rows, diff, options);
  return rows;
}

std::string name_of_node(const Diff& diff, NodeId node) {
  const DiffNode& one = diff.nodes[node.value()];
  return diff_region_name(diff.regions[one.region]) +
         (one.parameters.empty() ? "" : " {" + one.parameters + "}");
}

std::vector<std::string> path_of(const Diff& diff, NodeId node, std::size_t most) {
  std::vector<std::string> path;
  for (; node.defined() && path.size() < most; node = diff.nodes[node.value()].parent) {
    path.push_back(name_of_node(diff, node));
  }
  std::ranges::reverse(path);
  return path;
}

double longer(const Diff& diff, bool by_work) {
  const auto whole = [&](const profile::DiffTotals& side) {
    return std::abs(by_work ? side.working : side.all);
  };
  return std::max(whole(diff.before), whole(diff.after));
}

bool beyond_spread(const Diff& diff, const profile::DiffRange& before,
                   const profile::DiffRange& after) {
  if (diff.before.runs < 2 || diff.after.runs < 2) return true;
  return after.least > before.most || before.least > after.most;
}

bool beyond_error(const Diff& diff, double before, double after) {
  if (diff.before.runs > 1 && diff.after.runs > 1) return true;
  return std::abs(after - before) >= profile::sampling_error(diff, before, after);
}

std::string Compared::text() const {
  return formatted("{} {} {:.3g} s instead of {:.3g} s", name.empty() ? "the whole" : name,
                   of_work ? "works" : "takes", after, before);
}

std::vector<Compared> compare_with_limit(const Diff& diff, double percent, bool by_work) {
  std::vector<Compared> result;
  const double floor = percent > 0 ? kLeastDifference : 0;
  const auto compare = [&](Compared one, const profile::DiffRange& before,
                           const profile::DiffRange& after) {
    one.of_work = by_work;
    one.too_slow = one.after - one.before > std::max(std::abs(one.before) * percent / 100, floor) &&
                   (!by_work || beyond_spread(diff, before, after)) &&
                   beyond_error(diff, one.before, one.after);
    result.push_back(std::move(one));
  };
  const double whole = by_work ? diff.after.working : diff.after.all;
  compare({"", "", 0, by_work ? diff.before.working : diff.before.all, whole},
          diff.before.working_range, diff.after.working_range);
  for (const DiffRegion& region : diff.regions) {
    const DiffSide &before = region.before, &after = region.after;
    if (!before.there || !after.there || is_not_timed(region)) continue;
    Compared one{diff_region_name(region), region.file, region.line,
                 by_work ? before.inclusive_working : before.inclusive,
                 by_work ? after.inclusive_working : after.inclusive};
    if (one.after < kLeastDiffShare * std::abs(whole)) continue;
    compare(std::move(one), before.inclusive_working_range, after.inclusive_working_range);
  }
  std::ranges::stable_sort(result, std::ranges::greater(),
                           [](const Compared& one) { return std::pair(one.too_slow, one.after); });
  return result;
}

std::string not_timed(const Diff& diff) {
  std::vector<const DiffRegion*> all;
  for (const DiffRegion& region : diff.regions) {
    if (is_not_timed(region)) all.push_back(&region);
  }
  std::ranges::stable_sort(all, std::ranges::greater(), [](const DiffRegion* one) {
    return std::max(one->before.inclusive, one->after.inclusive);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + diff_region_name(*all[i]);
  }
  if (all.size() > kMostNamed) text += " and " + plural(all.size() - kMostNamed, "other");
  return text;
}

}  // namespace timeloom::tools
