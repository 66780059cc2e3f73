// A small language for the tests of the profile: events in, a tree out, both as text.
//
//   "main +5 f +2 ) +1 )"   enter main, 5 ticks later f, 2 later leave it, ...
//   "off", "on"             recording is switched
//   "!7"                    leave region 7, whatever is open
//   "n=7", "who:me"         a whole number and a text as values of parameters
//   "rss#4"                 a counter has the value 4
//   "@fork/5" "@join/5"     a team of threads is made and joined, number 5
//   "@team/5/1" "@end/5"    the location is member 1 of the team, and ends to be one
// Regions whose names begin with "parallel" and "barrier" are constructs of OpenMP.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/teams/team_scan.hpp"
#include "profile/call_tree.hpp"
#include "profile/call_tree_sink.hpp"
#include "profile/flat_profile.hpp"

namespace timeloom::profile {

class Story {
 public:
  // Adds a location (thread) of process `group` with these events.
  Story& thread(const std::string& name, const std::string& script, std::uint32_t group = 0) {
    Location location;
    location.id = LocationId{definitions_.locations.size()};
    location.name = name;
    location.group = LocationGroupId{group};
    while (definitions_.groups.size() <= group) {
      definitions_.groups.push_back({"Process", "node", 1, "python", {"a.py"}});
    }
    definitions_.locations.push_back(location);
    events_.push_back(parse(script));
    return *this;
  }

  CallTree fold(const CallTreeOptions& options = {}, std::size_t batch = 3) const {
    CallTreeSink sink(options);
    Definitions definitions = definitions_;
    if (has_teams(definitions)) {
      TeamScan scan;
      scan.begin(definitions);
      replay(scan, batch);
      definitions.teams = scan.take();
    }
    sink.begin(definitions);
    replay(sink, batch);
    return sink.take();
  }

  // REQUIRES: begin() was called.
  void replay(RunSink& sink, std::size_t batch = 3) const {
    for (std::size_t i = events_.size(); i-- > 0;) {  // in reverse: the order must not matter
      auto location = sink.open_location(definitions_.locations[i]);
      const std::span<const Event> all(events_[i]);
      for (std::size_t at = 0; at < all.size(); at += batch) {
        location->consume(all.subspan(at, std::min(batch, all.size() - at)));
      }
      location->finish();
    }
    sink.finish();
  }

  Definitions& definitions() { return definitions_; }

 private:
  std::uint32_t region(const std::string& name) {
    const auto [entry, fresh] =
        ids_.emplace(name, static_cast<std::uint32_t>(definitions_.regions.size()));
    if (fresh) {
      Region one;
      one.name = one.canonical_name = name;
      one.file = name + ".py";
      one.first_line = entry->second + 1;
      const bool parallel = name.starts_with("parallel");
      if (parallel || name.starts_with("barrier")) {
        one.paradigm = Paradigm::kOpenMp;
        one.role = parallel ? RegionRole::kParallel : RegionRole::kImplicitBarrier;
      }
      definitions_.regions.push_back(one);
    }
    return entry->second;
  }

  void value(Event& event, const std::string& name, char sign, const std::string& text) {
    if (sign == '#') {
      event.kind = EventKind::kMetric;
      event.ref = id_of(definitions_.metrics, name);
      definitions_.metrics[event.ref].type = MetricValueType::kInt64;
    } else {
      event.kind = sign == '=' ? EventKind::kParameterInt : EventKind::kParameterString;
      event.ref = id_of(definitions_.parameters, name);
      definitions_.parameters[event.ref].type =
          sign == '=' ? ParameterType::kInt64 : ParameterType::kString;
    }
    if (sign == ':') {
      event.value = definitions_.strings.size();
      definitions_.strings.push_back(text);
    } else {
      event.value = static_cast<std::uint64_t>(std::stoll(text));
    }
  }

  static void team(Event& event, const std::string& word) {
    const std::size_t slash = word.find('/'), next = word.find('/', slash + 1);
    const std::string kind = word.substr(0, slash);
    event.kind = kind == "fork"   ? EventKind::kTeamFork
                 : kind == "join" ? EventKind::kTeamJoin
                 : kind == "team" ? EventKind::kTeamBegin
                                  : EventKind::kTeamEnd;
    event.value = std::stoull(word.substr(slash + 1));
    if (next != std::string::npos) {
      event.ref = static_cast<std::uint32_t>(std::stoul(word.substr(next + 1)));
    }
  }

  template <typename Named>
  static std::uint32_t id_of(std::vector<Named>& table, const std::string& name) {
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      if (table[i].name == name) return i;
    }
    table.emplace_back().name = name;
    return static_cast<std::uint32_t>(table.size() - 1);
  }

  std::vector<Event> parse(const std::string& script) {
    std::vector<Event> events;
    std::vector<std::uint32_t> open;
    std::istringstream words(script);
    std::uint64_t time = 100;
    for (std::string word; words >> word;) {
      Event event;
      if (word[0] == '+') {
        time += std::stoull(word.substr(1));
        continue;
      }
      event.time = Timestamp{time};
      if (word == "off")
        event.kind = EventKind::kRecordingOff;
      else if (word == "on")
        event.kind = EventKind::kRecordingOn;
      else if (word[0] == '@') {
        team(event, word.substr(1));
      } else if (word == ")") {
        event.kind = EventKind::kLeave;
        event.ref = open.back();
        open.pop_back();
      } else if (word[0] == '!') {
        event.kind = EventKind::kLeave;
        event.ref = static_cast<std::uint32_t>(std::stoul(word.substr(1)));
      } else if (const auto place = word.find_first_of("=:#"); place != std::string::npos) {
        value(event, word.substr(0, place), word[place], word.substr(place + 1));
      } else {
        event.kind = EventKind::kEnter;
        event.ref = region(word);
        open.push_back(event.ref);
      }
      events.push_back(event);
    }
    return events;
  }

  Definitions definitions_;
  std::map<std::string, std::uint32_t> ids_;
  std::vector<std::vector<Event>> events_;
};

inline std::string name_of(const CallTree& tree, RegionId region) {
  return region.defined() ? tree.definitions.regions[region.value()].name : "(rest)";
}

inline std::string describe(const Totals& totals) {
  std::ostringstream line;
  line << totals.visits << " visits, inclusive " << totals.inclusive << ", exclusive "
       << totals.exclusive;
  if (totals.min <= totals.max) line << ", " << totals.min << " to " << totals.max;
  line << "\n";
  return line.str();
}

// One line for each call path, indented by its depth; unvisited ones are left out.
inline std::string describe(const CallTree& tree, const LocationFilter& filter = {}) {
  std::string text;
  const std::vector<Totals> totals = sum_locations(tree, filter);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (totals[i].visits == 0 && totals[i].inclusive == 0) continue;
    const Node& node = tree.nodes[i];
    text += std::string(2 * node.depth, ' ') + name_of(tree, node.region);
    if (node.parameters.defined()) {
      text += "{" + text_of(tree.parameter_sets[node.parameters.value()]) + "}";
    }
    text += ": " + describe(totals[i]);
  }
  return text;
}

}  // namespace timeloom::profile
