// Replays the stream of one thread into the sinks: its own events and the events of its tracks,
// each to its location.
//
// Used by one thread. A location that is being fed takes memory in its sinks, so only a few
// locations are fed while their events are read. The events of other tracks wait in memory, most of
// them until the track ends. The number of waiting events is limited, too: the stream is read again
// for tracks that did not fit. Throws Error, as the sinks do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/event.hpp"
#include "spool/reader.hpp"
#include "spool/samples/sample_reader.hpp"
#include "weave/event_translator.hpp"
#include "weave/gpu/gpu_calls.hpp"
#include "weave/gpu/gpu_timeline.hpp"
#include "weave/process_clock.hpp"
#include "weave/samples/sampled_calls.hpp"
#include "weave/samples/sampled_places.hpp"
#include "weave/unify.hpp"
#include "weave/wait_causes.hpp"

namespace timeloom::weave {

// A process of the run that is being woven.
struct WovenProcess {
  LocationGroupId group{};  // in the run
  std::unique_ptr<spool::Reader> reader{};
  ProcessIds ids{};
  ProcessClock clock{os::ClockSource::kMonotonic, {}};
  Timestamp begin{};
  Timestamp end{};  // the last time at which the process is known to have been alive
  std::vector<std::uint32_t> locations{};    // the indices of its threads and tracks, ascending
  LocationId first_location{};               // of a dense range of ids in the run
  std::unique_ptr<const GpuTimeline> gpu{};  // null: the process used none
  spool::WaitData waits{};                   // looks at waiting threads
  bool has_memory_curve = false;             // the bytes that it holds, on a location of its own
  spool::SampleData samples{};
  SampledPlaces sampled_places{};  // of calls that were recorded
  // Indices behind the threads and tracks: the queues of `gpu`, then its native threads.
  std::uint32_t first_gpu_location = UINT32_MAX;
  std::uint32_t memory_location = UINT32_MAX;  // behind them all
  bool is_added(std::uint32_t location) const noexcept {
    return location >= std::min(first_gpu_location, memory_location);
  }
};

// The id in the run of a thread or track of the process; undefined: no such index.
LocationId location_id(const WovenProcess& process, std::uint32_t index) noexcept;

class ThreadReplay {
 public:
  // `locations`: all locations of the run, in order of their ids.
  ThreadReplay(const WovenProcess& process, std::uint32_t thread,
               std::span<const Location> locations, std::span<RunSink* const> sinks,
               TeamsOfRun teams = {})
      : process_(process), thread_(thread), locations_(locations), sinks_(sinks), teams_(teams) {}

  // Adds the bytes that have been fed to `done`, each once.
  void run(const std::function<void(std::uint64_t)>& done);

  std::uint64_t events() const noexcept { return events_; }
  std::uint64_t closed_regions() const noexcept { return closed_; }
  std::uint64_t kept_rewinds() const noexcept { return kept_rewinds_; }
  std::uint64_t tasks_on_lanes() const noexcept { return tasks_; }
  std::uint64_t dropped_events() const noexcept { return dropped_; }
  std::uint64_t older_events() const noexcept { return older_; }
  std::uint64_t unnamed_visits() const noexcept { return unnamed_; }
  std::uint64_t damaged_segments() const noexcept { return damaged_; }

 private:
  struct Output {
    Output(const WovenProcess& process, const Location& where, TeamsOfRun teams)
        : translator(process.ids, process.clock, process.begin, {teams, where.id}),
          location(where) {}
    EventTranslator translator;
    GpuStream gpu{};
    GpuIdleStream gpu_idle{};
    const Location& location;
    std::vector<std::unique_ptr<LocationSink>> sinks;  // empty: the events wait
    std::vector<Event> waiting;
  };

  void read_once(const std::function<void(std::uint64_t)>& done);
  void replay(std::vector<Event>& batch);
  void replay_part(std::uint32_t index, std::vector<Event>& events);
  void add_gpu_idle(Output& output, std::vector<Event>& events);
  void drop_gpu(Timestamp until);
  Output* output_of(std::uint32_t index);
  void open(std::uint32_t index, const Location& location);
  void close(std::uint32_t index, Timestamp end, bool ended);
  void close_all();
  Timestamp end_of(Timestamp last) const;
  std::optional<LastGap> gap_before(std::uint32_t index, Timestamp end) const;
  std::uint64_t ticks_seen() const;
  void pass_to_sinks(Output& output, std::span<const Event> events);
  void open_sinks(Output& output);
  void make_room();
  const Location* location_of(std::uint32_t index) const;
  const spool::ProcessDefinitions::Thread* known(std::uint32_t index) const;

  const WovenProcess& process_;
  const std::uint32_t thread_;
  const std::span<const Location> locations_;
  const std::span<RunSink* const> sinks_;
  const TeamsOfRun teams_;

  std::map<std::uint32_t, Output> open_;
  std::size_t fed_ = 0;      // number of locations with sinks
  std::size_t waiting_ = 0;  // events of all other locations
  std::set<std::uint32_t> done_;
  std::set<std::uint32_t> postponed_;  // left for the next reading
  std::uint32_t current_ = 0;
  PendingGpuCalls gpu_calls_{};   // in this reading
  PendingGpuIdle gpu_idle_{};     // in this reading
  WaitCauses causes_{};           // in this reading
  std::uint64_t last_ticks_ = 0;  // of the last event of the stream
  bool first_ = true;             // the stream is read for the first time
  std::vector<Event> part_;
  std::uint64_t events_ = 0;
  std::uint64_t closed_ = 0;
  std::uint64_t kept_rewinds_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t unnamed_ = 0;
  std::uint64_t tasks_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t older_ = 0;
};

}  // namespace timeloom::weave
