// A source that passes on the events of another one, with changes.
//
// As RunSource; see core/event.hpp for threads and errors.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/event.hpp"

namespace timeloom::exchange {

// The sinks of one location.
using LocationSinks = std::vector<std::unique_ptr<LocationSink>>;

class WrappedSource : public RunSource {
 public:
  // `teams`: whether the events of teams are passed on.
  WrappedSource(RunSource& run, Definitions definitions, bool teams)
      : run_(run), definitions_(std::move(definitions)), teams_(teams) {}
  const Definitions& definitions() const override { return definitions_; }
  void replay(std::span<RunSink* const> sinks, unsigned threads) override {
    Sink sink(*this, sinks);
    const std::array<RunSink*, 1> one = {&sink};
    run_.replay(one, threads);
  }

 protected:
  // Changes the events of a location for its sinks, from any thread.
  virtual std::unique_ptr<LocationSink> open(const Location& location, LocationSinks sinks) = 0;

 private:
  class Sink : public RunSink {
   public:
    Sink(WrappedSource& source, std::span<RunSink* const> sinks) : source_(source), sinks_(sinks) {}
    bool wants_teams() const override {
      return source_.teams_ && std::ranges::any_of(sinks_, &RunSink::wants_teams);
    }
    void begin(const Definitions& definitions) override {
      if (source_.teams_) source_.definitions_.teams = definitions.teams;
      for (RunSink* sink : sinks_) sink->begin(source_.definitions_);
    }
    std::unique_ptr<LocationSink> open_location(const Location& location) override {
      LocationSinks open;
      for (RunSink* sink : sinks_) open.push_back(sink->open_location(location));
      return source_.open(location, std::move(open));
    }
    void finish() override {
      for (RunSink* sink : sinks_) sink->finish();
    }

   private:
    WrappedSource& source_;
    std::span<RunSink* const> sinks_;
  };

  RunSource& run_;
  Definitions definitions_;
  const bool teams_;
};

}  // namespace timeloom::exchange
