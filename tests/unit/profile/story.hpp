// A small language for the tests of the profile: events in, a tree out, both as text.
//
//   "main +5 f +2 ) +1 )"   enter main, 5 ticks later f, 2 later leave it, ...
//   "off", "on"             recording is switched
//   "!7"                    leave region 7, whatever is open
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

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
    sink.begin(definitions_);
    for (std::size_t i = events_.size(); i-- > 0;) {  // the order must not matter
      auto location = sink.open_location(definitions_.locations[i]);
      const std::span<const Event> all(events_[i]);
      for (std::size_t at = 0; at < all.size(); at += batch) {
        location->consume(all.subspan(at, std::min(batch, all.size() - at)));
      }
      location->finish();
    }
    sink.finish();
    return sink.take();
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
      definitions_.regions.push_back(one);
    }
    return entry->second;
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
      else if (word == ")") {
        event.kind = EventKind::kLeave;
        event.ref = open.back();
        open.pop_back();
      } else if (word[0] == '!') {
        event.kind = EventKind::kLeave;
        event.ref = static_cast<std::uint32_t>(std::stoul(word.substr(1)));
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
       << totals.exclusive << ", " << totals.min << " to " << totals.max << "\n";
  return line.str();
}

// One line a call path, indented by its depth; leaves out what was not visited.
inline std::string describe(const CallTree& tree, const LocationFilter& filter = {}) {
  std::string text;
  const std::vector<Totals> totals = sum_locations(tree, filter);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if (totals[i].visits == 0) continue;
    text += std::string(2 * tree.nodes[i].depth, ' ') + name_of(tree, tree.nodes[i].region) + ": " +
            describe(totals[i]);
  }
  return text;
}

}  // namespace timeloom::profile
