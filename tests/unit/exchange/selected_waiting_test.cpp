// Waiting in selected parts of a run.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "exchange/selection.hpp"

namespace timeloom::exchange {
namespace {

// A thread that waits for 40 of the first 50 ns in a call from 10 to 70 ns, half of it for a lock.
class WaitingSource : public RunSource {
 public:
  WaitingSource() {
    definitions_.clock.ticks_per_second = 1'000'000'000;
    definitions_.regions.resize(1);
    definitions_.locations.resize(1);
    definitions_.locations[0].id = LocationId{0};
  }
  const Definitions& definitions() const override { return definitions_; }
  void replay(std::span<RunSink* const> sinks, unsigned) override {
    const std::vector<Event> events = {{Timestamp{10}, EventKind::kEnter, 0, 0},
                                       {Timestamp{60}, EventKind::kWaiting, 0, 40},
                                       {Timestamp{60}, EventKind::kWaiting, 2, 20},
                                       {Timestamp{70}, EventKind::kLeave, 0, 0}};
    for (RunSink* sink : sinks) {
      sink->begin(definitions_);
      const auto location = sink->open_location(definitions_.locations[0]);
      location->consume(events);
      location->finish();
      sink->finish();
    }
  }

 private:
  Definitions definitions_;
};

class WaitingSink : public RunSink {
 public:
  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location&) override {
    return std::make_unique<OfLocation>(waited);
  }
  void finish() override {}

  std::vector<std::uint64_t> waited;

 private:
  class OfLocation : public LocationSink {
   public:
    explicit OfLocation(std::vector<std::uint64_t>& waited) : waited_(waited) {}
    void consume(std::span<const Event> events) override {
      for (const Event& event : events) {
        if (event.kind == EventKind::kWaiting) waited_.push_back(event.value);
      }
    }
    void finish() override {}

   private:
    std::vector<std::uint64_t>& waited_;
  };
};

std::vector<std::uint64_t> waited_from(std::uint64_t from) {
  Selection selection;
  selection.window.from = {WindowPoint::Kind::kTime, from, {}};
  WaitingSource run;
  WaitingSink sink;
  const std::array<RunSink*, 1> sinks = {&sink};
  select(run, selection, 1)->replay(sinks, 1);
  return sink.waited;
}

TEST(SelectedWaiting, IsThePartThatTheWindowHasOfTheGap) {
  EXPECT_EQ(waited_from(5), (std::vector<std::uint64_t>{40, 20}));
  EXPECT_EQ(waited_from(10), (std::vector<std::uint64_t>{40, 20}));
  EXPECT_EQ(waited_from(35), (std::vector<std::uint64_t>{20, 10}));
  EXPECT_TRUE(waited_from(65).empty());
}

}  // namespace
}  // namespace timeloom::exchange
