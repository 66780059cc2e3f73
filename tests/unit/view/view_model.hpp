// Random runs with their index, and the expected answers computed from every call.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../support/temp_directory.hpp"
#include "../support/thorough.hpp"
#include "core/waiting/cause_names.hpp"
#include "core/waiting_metric.hpp"
#include "view/answers/calls.hpp"
#include "view/answers/range_table.hpp"
#include "view/index/index.hpp"
#include "view/index/index_writer.hpp"
#include "view/index/waited.hpp"

namespace timeloom::view {

struct RunShape {
  std::uint64_t seed = 1;
  std::size_t tracks = 2;
  std::size_t events = 30'000;  // per track, approximately
  std::size_t depth = 12;
  std::uint32_t regions = 20;
  std::uint64_t step = 50;  // maximum between two events; a third of them are 0
  std::size_t most_paths = 1 << 20;
  bool others = true;  // recording off and on, parameters
  bool waiting = false;
  bool causes = false;  // of the waiting
};

// A call as the events describe it.
struct ModelCall {
  Call call;            // without the path
  std::size_t way = 0;  // number of its call path, see Model::way(); 0: none
};

struct ModelTrack {
  std::vector<Event> events;
  std::vector<ModelCall> calls;  // by start time, callers first
  // Stretches of time with the same innermost call: start, end, its index in `calls`.
  struct Stretch {
    std::uint64_t begin, end;
    std::size_t call;
    CauseTicks waited{};
    Waited waiting() const noexcept { return {begin, end, waited}; }
  };
  std::vector<Stretch> stretches;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> off;
  std::uint64_t end = 0;
};

class Model : public RunSource {
 public:
  static constexpr std::uint64_t kBegin = 1000;  // of the clock

  explicit Model(const RunShape& shape) : shape_(shape), random_(shape.seed) {
    definitions_.clock.begin = kBegin;
    for (std::uint32_t i = 0; i < shape.regions; ++i) {
      Region region;
      region.name = "f" + std::to_string(i);
      definitions_.regions.push_back(region);
    }
    definitions_.groups.push_back({"Process", "node", 1, "python", {"a.py"}});
    definitions_.parameters.push_back({"n", ParameterType::kInt64});
    if (shape.waiting) definitions_.metrics.push_back(waiting_metric());
    if (shape.causes) {
      definitions_.metrics.push_back(cause_metric(WaitingCause::kLock));
      // The names of some functions tell the cause.
      definitions_.regions[0].name = "threading:Thread.join";
      definitions_.regions[1].name = "time.sleep";
    }
    for (std::size_t i = 0; i < shape.tracks; ++i) {
      definitions_.locations.push_back(
          {LocationId{i * 3}, "t" + std::to_string(i), LocationGroupId{0}});
      tracks_.push_back(make());
      definitions_.locations.back().event_count = tracks_.back().events.size();
    }
  }

  const Definitions& definitions() const override { return definitions_; }
  void replay(std::span<RunSink* const> sinks, unsigned) override {
    for (RunSink* sink : sinks) {
      sink->begin(definitions_);
      for (std::size_t i = 0; i < tracks_.size(); ++i) {
        const auto location = sink->open_location(definitions_.locations[i]);
        const std::span<const Event> all(tracks_[i].events);
        for (std::size_t at = 0; at < all.size(); at += 1000) {
          location->consume(all.subspan(at, std::min<std::size_t>(1000, all.size() - at)));
        }
        location->finish();
      }
      sink->finish();
    }
  }

  const std::vector<ModelTrack>& tracks() const { return tracks_; }
  // The call path of a call of `region` below another.
  std::size_t way(std::size_t caller, std::uint32_t region) const {
    return ways_.at({caller, region});
  }
  std::size_t number_of_ways() const { return ways_.size() + 1; }
  std::uint64_t random(std::uint64_t below) { return random_() % below; }
  // A random time, often the time of an event.
  std::uint64_t random_time() {
    const ModelTrack& track = tracks_[random(tracks_.size())];
    if (random(4) == 0 || track.events.empty()) return random(track.end + 100);
    const std::uint64_t time = ticks(track.events[random(track.events.size())].time) - kBegin;
    return random(3) == 0 ? time + random(3) : time;
  }

 private:
  void add(ModelTrack& track, EventKind kind, std::uint32_t ref, std::uint64_t value = 0) {
    track.events.push_back({Timestamp{now_ + kBegin}, kind, ref, value});
  }

  // A part of the time since the last enter or leave was waiting, spread evenly over the pieces
  // into which other events have cut it.
  void wait(ModelTrack& track, std::uint64_t since) {
    if (!shape_.waiting || now_ == since || random(4) > 0) return;
    const std::uint64_t waited = random(3) == 0 ? now_ - since + 5 : random(now_ - since);
    const Waited all{since, now_, causes_of(track, waited, now_ - since)};
    for (std::size_t i = track.stretches.size(); i-- > 0 && track.stretches[i].begin >= since;) {
      ModelTrack::Stretch& one = track.stretches[i];
      one.waited = all.in(one.begin, one.end);
    }
  }
  // Adds the waiting by its causes, of which a gap holds at most `room` ticks. Returns the causes
  // that the index has.
  CauseTicks causes_of(ModelTrack& track, std::uint64_t waited, std::uint64_t room) {
    CauseTicks seen{}, known{};
    if (!shape_.causes) seen[0] = waited;
    for (std::uint64_t left = shape_.causes ? waited : 0; left > 0;) {
      const std::uint64_t part = random(2) == 0 ? left : 1 + random(left);
      seen[random(kWaitingCauses)] += part;
      left -= part;
    }
    const Region& inner =
        definitions_.regions[track.calls[track.stretches.back().call].call.region];
    for (std::uint32_t i = 0; i < kWaitingCauses; ++i) {
      if (seen[i] > 0) add(track, EventKind::kWaiting, i, seen[i]);
      const std::uint64_t part = std::min(seen[i], room);
      const auto cause = shape_.causes ? cause_in(inner, WaitingCause{i}) : WaitingCause{i};
      known[static_cast<std::size_t>(cause)] += part;
      room -= part;
    }
    return known;
  }

  std::size_t way_below(std::size_t way, std::uint32_t region) {
    return ways_.try_emplace({way, region}, ways_.size() + 1).first->second;
  }

  ModelTrack make() {
    ModelTrack track;
    std::vector<std::size_t> open;
    now_ = random(1000);
    bool off = false;
    std::uint64_t off_since = 0, call_since = now_;
    const auto step = [&] {
      const std::uint64_t before = now_;
      if (random(3) > 0) now_ += random(shape_.step);
      if (random(2000) == 0) now_ += random(shape_.step * 3000);
      if (now_ > before && !open.empty()) track.stretches.push_back({before, now_, open.back()});
    };
    std::size_t wanted = shape_.depth / 2;
    for (std::size_t i = 0; i < shape_.events || !open.empty(); ++i) {
      if (i > 0) step();
      if (random(300) == 0) wanted = random(shape_.depth + 1);
      const bool ending = i >= shape_.events;
      const bool enter = !ending && open.size() < shape_.depth &&
                         (open.size() < wanted ? random(4) > 0 : random(3) == 0);
      if (shape_.others && !ending && random(200) == 0) {
        off = !off;
        add(track, off ? EventKind::kRecordingOff : EventKind::kRecordingOn, 0);
        if (!off) track.off.emplace_back(off_since, now_);
        off_since = now_;
      } else if (shape_.others && random(20) == 0) {
        add(track, EventKind::kParameterInt, 0, random(1000));
      } else if (enter || open.empty()) {
        if (ending) break;
        ModelCall call;
        call.call.begin = now_;
        call.call.depth = static_cast<std::uint32_t>(open.size());
        // Few regions are frequent.
        call.call.region = static_cast<std::uint32_t>(std::min(
            random(shape_.regions), std::min(random(shape_.regions), random(shape_.regions))));
        call.way = way_below(open.empty() ? 0 : track.calls[open.back()].way, call.call.region);
        if (!open.empty()) wait(track, call_since);
        call_since = now_;
        add(track, EventKind::kEnter, call.call.region);
        open.push_back(track.calls.size());
        track.calls.push_back(call);
      } else {
        ModelCall& call = track.calls[open.back()];
        call.call.end = now_;
        wait(track, call_since);
        call_since = now_;
        add(track, EventKind::kLeave, call.call.region);
        open.pop_back();
      }
    }
    if (off) track.off.emplace_back(off_since, now_);
    track.end = now_;
    return track;
  }

  RunShape shape_;
  std::mt19937_64 random_;
  Definitions definitions_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> ways_;
  std::vector<ModelTrack> tracks_;
  std::uint64_t now_ = 0;
};

// The index of a model, in a separate directory.
class IndexOfModel {
 public:
  static constexpr std::uint64_t kSource = 4711;

  explicit IndexOfModel(RunSource& model, std::uint32_t most_paths = RunPaths::kMost) {
    const std::string path = directory_ / "view.timeloom";
    {
      const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
      IndexFile file(descriptor, path);
      Progress progress;
      IndexWriter writer(file, kSource, progress, most_paths);
      const std::array<RunSink*, 1> sinks = {&writer};
      model.replay(sinks, 1);
    }
    index_ = open(path);
  }
  static std::unique_ptr<Index> open(const std::string& path) {
    return std::make_unique<Index>(std::make_unique<IndexFile>(IndexFile::open_to_read(path), path),
                                   kSource);
  }

  const Index& operator*() const { return *index_; }
  const Index* operator->() const { return index_.get(); }
  std::string path() const { return directory_ / "view.timeloom"; }

 private:
  test::TempDirectory directory_;
  std::unique_ptr<Index> index_;
};

// The regions of a path, outermost first.
inline std::vector<std::uint32_t> way_of(const Index& index, std::uint32_t path) {
  std::vector<std::uint32_t> way;
  for (; path != kNone; path = index.paths()[path].parent)
    way.push_back(index.paths()[path].region);
  std::ranges::reverse(way);
  return way;
}

}  // namespace timeloom::view
