// A run with one location, whose events a test adds.
#pragma once

#include <span>
#include <vector>

#include "core/definitions.hpp"
#include "core/event.hpp"

namespace timeloom::test {

class OneLocation : public RunSource {
 public:
  OneLocation() {
    definitions_.groups.push_back({"Process", "node", 1, "python", {"a.py"}});
    definitions_.locations.push_back({LocationId{0}, "t", LocationGroupId{0}});
  }
  const Definitions& definitions() const override { return definitions_; }
  void replay(std::span<RunSink* const> sinks, unsigned) override {
    for (RunSink* sink : sinks) {
      sink->begin(definitions_);
      const auto location = sink->open_location(definitions_.locations[0]);
      location->consume(events_);
      location->finish();
      sink->finish();
    }
  }

 protected:
  Definitions definitions_;
  std::vector<Event> events_;
};

}  // namespace timeloom::test
