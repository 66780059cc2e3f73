#include "tools/report/report_function.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/text/edit_distance.hpp"
#include "core/text/joined.hpp"
#include "core/text/name_pattern.hpp"
#include "core/throttled.hpp"
#include "core/waiting_metric.hpp"
#include "exchange/names.hpp"
#include "settings/setting_words.hpp"
#include "tools/report/answer_text.hpp"
#include "tools/report/report_text.hpp"
#include "tools/report/source/regions_at.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kMostSuggestions = 5;

bool is_end_of(const std::string& name, const std::string& whole) {
  if (!whole.ends_with(name)) return false;
  if (whole.size() == name.size()) return true;
  const char before = whole[whole.size() - name.size() - 1];
  return before == '.' || before == ':';
}

std::string last_part(const std::string& name) {
  const std::size_t end = name.find_last_of(".:");
  return end == std::string::npos ? name : name.substr(end + 1);
}

// How far a name is from the wanted one: a name that contains it is nearest.
std::size_t strangeness(const std::string& wanted, const std::string& name) {
  const std::string low = lower(name);
  if (low.find(wanted) != std::string::npos) return std::min<std::size_t>(low.size(), 999);
  const std::string last = last_part(wanted);
  std::size_t nearest = SIZE_MAX;
  for (std::size_t begin = 0; begin <= low.size();) {
    const std::size_t end = std::min(low.find_first_of(".:", begin), low.size());
    nearest = std::min(nearest, edit_distance(last, low.substr(begin, end - begin)));
    begin = end + 1;
  }
  return 1000 + 10 * nearest;
}

std::string joined_names(const std::vector<std::string>& names) {
  return joined(names, ", ", printable);
}

[[noreturn]] void refuse_function(const Definitions& definitions, const std::string& name) {
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const Region& region : definitions.regions) {
    near.emplace_back(strangeness(lower(name), region.name), region.name);
  }
  std::ranges::sort(near);
  const auto same = std::unique(near.begin(), near.end());
  near.erase(same, near.end());
  std::vector<std::string> names;
  const std::size_t far = 1000 + 5 * std::max<std::size_t>(last_part(name).size(), 2);
  for (const auto& [strange, one] : near) {
    if (names.size() < kMostSuggestions && strange <= far) names.push_back(one);
  }
  std::string text = "no function '" + name + "' in this run";
  text +=
      names.empty() ? "; timeloom report --flat lists them" : "; there are " + joined_names(names);
  if (definitions.properties.contains("timeloom::python") &&
      !definitions.properties.contains(kCFunctions)) {
    text += ". Functions written in C are recorded with --c-functions";
  }
  throw Error(text + " [TL421]");
}

std::vector<std::string> names_of(const Definitions& definitions,
                                  const std::vector<RegionId>& regions) {
  std::vector<std::string> names;
  for (const RegionId id : regions) names.push_back(definitions.regions[id.value()].name);
  std::ranges::sort(names);
  const auto same = std::unique(names.begin(), names.end());
  names.erase(same, names.end());
  return names;
}

void check_unique(const Definitions& definitions, const std::string& name,
                  const std::vector<RegionId>& found) {
  std::vector<std::string> names = names_of(definitions, found);
  if (names.size() < 2) return;
  const std::size_t all = names.size();
  names.resize(std::min(all, kMostSuggestions));
  throw Error(plural(all, "function") + " could be '" + name + "': " + joined_names(names) +
              (all > names.size() ? " and others" : "") + " [TL421]");
}

using Neighbours = std::map<std::pair<RegionId, bool>, Neighbour>;

Neighbour& neighbour(Neighbours& all, RegionId region, bool beyond) {
  Neighbour& one = all[{region, beyond}];
  one.region = region;
  one.beyond = beyond;
  return one;
}

std::vector<Neighbour> sorted(const Neighbours& some) {
  std::vector<Neighbour> rows;
  for (const auto& [key, one] : some) {
    if (one.visits != 0 || one.total != 0) rows.push_back(one);
  }
  std::ranges::stable_sort(rows, [](const Neighbour& a, const Neighbour& b) {
    return a.total != b.total ? a.total > b.total : a.visits > b.visits;
  });
  return rows;
}

// Where a call path lies, as seen from the function.
struct Place {
  bool inside = false;    // of a visit of the function
  bool function = false;  // the function, and inside at most visits of itself
  bool beyond = false;    // call paths beyond the limit, called by such a visit
};

class FactsOfFunction {
 public:
  FactsOfFunction(const profile::CallTree& tree, const profile::LocationFilter& filter,
                  const std::vector<RegionId>& regions)
      : tree_(tree),
        totals_(profile::sum_locations(tree, filter)),
        times_(work_times(tree, filter)),
        wanted_(tree.definitions.regions.size()),
        places_(tree.nodes.size()) {
    facts_.region = regions.front();
    facts_.names = names_of(tree.definitions, regions);
    for (const RegionId one : regions) wanted_[one.value()] = true;
    const ThrottledFunctions throttled(tree.definitions.properties);
    facts_.at_least = std::ranges::any_of(regions, [&](RegionId one) {
      return throttled.holds(tree.definitions.regions[one.value()]);
    });
    const Estimates estimates(tree, filter);
    for (const RegionId one : regions) {
      facts_.own_estimate.add(estimates.own_of(one));
      facts_.total_estimate.add(estimates.total_of(one));
      facts_.below += estimates.below_of(one).seconds;
    }
    facts_.total += facts_.below;
  }

  FunctionFacts take() {
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const NodeView node = view(i);
      places_[i] = place(node);
      if (totals_[i].visits == 0 && totals_[i].inclusive == 0) continue;
      if (node.region.defined() && is_unmeasured(tree_.definitions.regions[node.region.value()])) {
        continue;  // a part of its caller's own time
      }
      if (node.parent) add_callee(node, i);
      if (is_wanted(node.region)) add_visits(node, i);
    }
    const bool known = least_ != UINT64_MAX;
    facts_.shortest = known ? time(least_) : std::numeric_limits<double>::quiet_NaN();
    facts_.longest = known ? time(most_) : std::numeric_limits<double>::quiet_NaN();
    facts_.callers = sorted(callers_);
    facts_.callees = sorted(callees_);
    return std::move(facts_);
  }

 private:
  struct NodeView {
    RegionId region, above;         // undefined: none, or beyond the limit
    const Place* parent = nullptr;  // nullptr: a root
  };

  NodeView view(std::size_t i) const {
    const profile::Node& node = tree_.nodes[i];
    if (!node.parent.defined()) return {node.region, {}, nullptr};
    return {node.region, tree_.nodes[node.parent.value()].region, &places_[node.parent.value()]};
  }
  bool is_wanted(RegionId id) const { return id.defined() && wanted_[id.value()]; }
  double time(std::uint64_t ticks) const { return seconds(ticks, tree_.definitions); }

  Place place(const NodeView& node) const {
    Place place;
    if (node.parent == nullptr) {
      place.function = is_wanted(node.region);
      return place;
    }
    place.inside = node.parent->inside || is_wanted(node.above);
    place.function =
        is_wanted(node.region) && (!place.inside || node.parent->function || node.parent->beyond);
    place.beyond = !node.region.defined() && node.parent->function;
    return place;
  }

  void add_callee(const NodeView& node, std::size_t i) {
    const std::int64_t visits = profile::signed_value(totals_[i].visits);
    if (node.parent->beyond) {
      // The function itself is there, too: its time is its own.
      Neighbour& beyond = neighbour(callees_, {}, true);
      if (is_wanted(node.region)) {
        beyond.total -= time(totals_[i].inclusive);
      } else {
        beyond.visits += visits;
      }
    } else if (is_wanted(node.above)) {
      Neighbour& callee = neighbour(callees_, node.region, !node.region.defined());
      callee.visits += visits;
      if (node.parent->function && !is_wanted(node.region)) {
        callee.total += time(totals_[i].inclusive);
      }
    }
  }

  void add_visits(const NodeView& node, std::size_t i) {
    const profile::Totals& totals = totals_[i];
    const bool beyond = node.parent != nullptr && !node.above.defined();
    Neighbour& caller = neighbour(callers_, node.above, beyond);
    caller.visits += profile::signed_value(totals.visits);
    facts_.visits += profile::signed_value(totals.visits);
    const double exclusive = time(totals.exclusive) + times_.unmeasured[i];
    facts_.exclusive += exclusive;
    if (places_[i].function) facts_.exclusive_outside += exclusive;
    facts_.working += times_.working[i];
    facts_.waiting += times_.waiting[i];
    facts_.causes += times_.causes[i];
    facts_.unmeasured += times_.unmeasured[i];
    least_ = std::min(least_, totals.min);
    most_ = std::max(most_, totals.max);
    if (places_[i].inside) return;
    caller.total += time(totals.inclusive);
    facts_.total += time(totals.inclusive);
  }

  const profile::CallTree& tree_;
  const std::vector<profile::Totals> totals_;
  const WorkTimes times_;
  std::vector<bool> wanted_;   // by region
  std::vector<Place> places_;  // by node
  FunctionFacts facts_;
  Neighbours callers_, callees_;
  std::uint64_t least_ = UINT64_MAX, most_ = 0;
};

std::string neighbour_name(const Definitions& definitions, const Neighbour& one) {
  if (one.region.defined() || one.beyond) return exchange::region_name(definitions, one.region);
  return "(the thread itself)";
}

// "~1.45 s (+- 52 ms of 812 samples)"
std::string marked_time(double time, const Estimate& estimate, const Terminal& terminal) {
  const std::string text = marked(duration(time, terminal, " "), estimate);
  return estimate.any() ? text + " (" + error_text(estimate, terminal) + ")" : text;
}

// "3 functions: a, b, c"
std::string title_of(const FunctionFacts& facts) {
  if (facts.names.size() == 1) return facts.names.front();
  std::vector<std::string> shown = facts.names;
  shown.resize(std::min(shown.size(), kMostSuggestions));
  const std::size_t more = facts.names.size() - shown.size();
  return plural(facts.names.size(), "function") + ": " + joined_names(shown) +
         (more > 0 ? " and " + plural(more, "other") : "");
}

}  // namespace

std::vector<RegionId> find_function(const Definitions& definitions, const std::string& name) {
  const auto those = [&](const auto& wanted) {
    std::vector<RegionId> found;
    for (std::uint32_t i = 0; i < definitions.regions.size(); ++i) {
      if (wanted(definitions.regions[i].name)) found.emplace_back(i);
    }
    check_unique(definitions, name, found);
    return found;
  };
  std::vector<RegionId> found = those([&](const std::string& one) { return one == name; });
  if (found.empty()) found = those([&](const std::string& one) { return is_end_of(name, one); });
  if (found.empty()) {
    found = those([&](const std::string& one) { return is_end_of(lower(name), lower(one)); });
  }
  if (found.empty()) {
    found = those([&](const std::string& one) { return lower(one).ends_with(lower(name)); });
  }
  if (found.empty() && name.find_first_of("*?") != std::string::npos) {
    const NamePattern pattern(name);
    for (std::uint32_t i = 0; i < definitions.regions.size(); ++i) {
      if (pattern.matches(definitions.regions[i].name)) found.emplace_back(i);
    }
  }
  if (found.empty()) {
    found = regions_at(definitions, name);
    check_unique(definitions, name, found);
  }
  if (found.empty()) refuse_function(definitions, name);
  return found;
}

FunctionFacts function_facts(const profile::CallTree& tree, const profile::LocationFilter& filter,
                             const std::vector<RegionId>& regions) {
  return FactsOfFunction(tree, filter, regions).take();
}

void write_function(const FunctionFacts& facts, const profile::CallTree& tree,
                    const Terminal& terminal, Output& output) {
  const Region& region = tree.definitions.regions[facts.region.value()];
  const CodeOwner owner(tree.definitions);
  const ThrottledFunctions throttled(tree.definitions.properties);
  const bool sampled = has_sampled_calls(tree.definitions);
  write_losses(facts_of(tree.definitions).losses, terminal, output);
  output.write(terminal.paint(printable(title_of(facts)), Ink::kBold));
  const std::string place = facts.names.size() > 1 ? std::string() : short_region_place(region);
  if (!place.empty()) output.write("  " + place);
  output.write(
      formatted("\n{}{}own {}",
                (facts.at_least ? std::string(terminal.at_least()) : "") +
                    plural(static_cast<std::uint64_t>(facts.visits), sampled ? "sample" : "visit"),
                terminal.dot(), marked_time(facts.exclusive, facts.own_estimate, terminal)));
  if (facts.waiting > 0 || facts.unmeasured > 0)
    output.write(formatted(" = {} working + {} waiting", duration(facts.working, terminal, " "),
                           duration(facts.waiting, terminal, " ")));
  if (facts.waiting > 0 && has_causes(tree.definitions))
    output.write(formatted(" ({})", cause_shares(facts.causes)));
  if (facts.unmeasured > 0)
    output.write(formatted(" + {} unmeasured", duration(facts.unmeasured, terminal, " ")));
  output.write(formatted("{}total {}", terminal.dot(),
                         marked_time(facts.total, facts.total_estimate, terminal)));
  if (facts.visits > 0 && !sampled && facts.shortest == facts.shortest) {
    output.write(formatted("{}a visit {} to {}", terminal.dot(),
                           duration(facts.shortest, terminal, " "),
                           duration(facts.longest, terminal, " ")));
  }
  // Calls that one of the two functions was not timed for are not in these numbers.
  const auto is_throttled = [&](const Neighbour& one) {
    return facts.at_least ||
           (one.region.defined() && throttled.holds(tree.definitions.regions[one.region.value()]));
  };
  const std::size_t width = throttled.any() ? 10 : 7;
  const auto line = [&](const Neighbour& one, const std::string& name) {
    AnswerLine drawn_line;
    const double share = facts.total == 0 ? 0 : one.total / facts.total;
    drawn_line.numbers = formatted(
        "{} {} {}", pad_left(percent(share), 6), pad_left(duration(one.total, terminal), 6),
        pad_left(visits_text(one.visits, is_throttled(one), terminal), width));
    drawn_line.name = printable(name);
    drawn_line.project = owner.is_project(one.region);
    if (one.region.defined()) {
      drawn_line.place = short_region_place(tree.definitions.regions[one.region.value()]);
    }
    output.write(drawn(drawn_line, terminal));
  };
  const auto title = [&](const char* text) {
    output.write(
        terminal.paint(" share  total" + pad_left(visits_word(tree.definitions), width + 1) + "  ",
                       Ink::kDim) +
        terminal.paint(text, Ink::kAccent) + "\n");
  };
  output.write("\n");
  title("called by");
  for (const Neighbour& one : facts.callers) line(one, neighbour_name(tree.definitions, one));
  title("calls");
  line({.region = {}, .total = facts.exclusive_outside, .visits = facts.visits}, "(its own code)");
  for (const Neighbour& one : facts.callees) line(one, neighbour_name(tree.definitions, one));
  if (facts.below > 0)
    line({.region = {}, .total = facts.below, .visits = 0},
         "(functions that were recorded, by samples)");
}

void write_function_json(const FunctionFacts& facts, const NativeShares& shares,
                         const std::vector<view::LineTime>& lines,
                         const std::optional<view::SourceLines>& source,
                         const profile::CallTree& tree, Output& output) {
  using nlohmann::ordered_json;
  ordered_json native = ordered_json::array();
  for (const NativePart& part : shares.parts) {
    native.push_back({{"library", part.library},
                      {"function", part.whole ? ordered_json() : ordered_json(part.function)},
                      {"samples", part.samples},
                      {"seconds", static_cast<double>(part.ns) * 1e-9}});
  }
  ordered_json by_line = ordered_json::array();
  for (const view::LineTime& one : lines) {
    by_line.push_back({{"line", one.line == 0 ? ordered_json() : ordered_json(one.line)},
                       {"samples", one.samples},
                       {"seconds", static_cast<double>(one.ns) * 1e-9}});
  }
  const auto list = [&](const std::vector<Neighbour>& some) {
    ordered_json rows = ordered_json::array();
    for (const Neighbour& one : some) {
      rows.push_back(
          {{"name", one.region.defined() || one.beyond
                        ? ordered_json(exchange::region_name(tree.definitions, one.region))
                        : ordered_json()},
           {"total_s", one.total},
           {visits_word(tree.definitions), one.visits}});
    }
    return rows;
  };
  // Of several functions together there is no one place.
  const bool one_alone = facts.names.size() == 1;
  const Region& region = tree.definitions.regions[facts.region.value()];
  ordered_json answer_json = {
      {"format", "timeloom-report-function"},
      {"version", 1},
      {"name", one_alone ? ordered_json(facts.names.front()) : ordered_json()},
      {"names", facts.names},
      {"file", one_alone ? region.file : std::string()},
      {"line", one_alone ? region.first_line : 0},
      {visits_word(tree.definitions), facts.visits},
      {"given_up", facts.at_least},
      {"own_s", facts.exclusive},
      {"own_error_s", facts.own_estimate.error()},
      {"total_error_s", facts.total_estimate.error()},
      {"working_s", facts.working},
      {"waiting_s", facts.waiting},
      {"waiting_causes_s", causes_json(facts.causes)},
      {"unmeasured_s", facts.unmeasured},
      {"total_s", facts.total},
      {"min_s", facts.shortest},
      {"max_s", facts.longest},
      {"losses", facts_of(tree.definitions).losses},
      {"callers", list(facts.callers)},
      {"callees", list(facts.callees)},
      {"native", std::move(native)},
      {"lines", std::move(by_line)}};
  if (source) answer_json["source"] = ordered_json::parse(view::source_json(*source, region));
  output.write(json_text(answer_json, 2) + "\n");
}

}  // namespace timeloom::tools
