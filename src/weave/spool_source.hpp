// The spools of a run as a RunSource: with definitions unified over the processes, times in
// nanoseconds of one clock, and regions closed that a crash left open.
//
// Thread safety: used by one thread; replay() starts its own threads. Throws Error.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/engines/engine_regions.hpp"
#include "core/event.hpp"
#include "core/measuring_cost.hpp"
#include "core/memory/memory_facts.hpp"
#include "core/memory/resident_peak.hpp"
#include "core/throttled.hpp"
#include "formats/memory_file/memory_file_parts.hpp"
#include "formats/otf2/read/event_files.hpp"
#include "profile/location_aggregator.hpp"
#include "profile/samples/throttled_times.hpp"
#include "spool/gpu_reader.hpp"
#include "spool/locks/lock_reader.hpp"
#include "spool/memory_reader.hpp"
#include "spool/profile_file.hpp"
#include "spool/reader.hpp"
#include "weave/code_naming.hpp"
#include "weave/memory/memory_amounts.hpp"
#include "weave/message_balance.hpp"
#include "weave/process_clock.hpp"
#include "weave/ranks/packed_ranks.hpp"
#include "weave/ranks/rank_result.hpp"
#include "weave/samples/sample_table.hpp"
#include "weave/samples/sampled_times.hpp"
#include "weave/thread_replay.hpp"
#include "weave/unify.hpp"

namespace timeloom::weave {

class SpoolSource : public RunSource {
 public:
  // Selects whether the conversions of ranks are used in place of their records: only with matching
  // checksums or, where a conversion was made just now, without reading the events.
  // `kIgnoredInTicks`: ignored, and the times of the only process are ticks of its counter.
  enum class RankResults : std::uint8_t { kIgnored, kIgnoredInTicks, kCompared, kJustMade };
  // A look at a run that is still recorded, one of several.
  struct Look {
    std::uint64_t now = 0;  // ticks of this host, whose living processes last until then
    std::string host;       // its name
    const std::vector<Region>* regions;  // of the look before, which keep their numbers
  };
  // `directories`: one spool each, all of one run. Unreadable spools are left out and counted.
  // `names`: of compiled code; see CodeRegions. `look`: null for a run that has ended, or for a
  // result that shall end with the last event. `packed`: the events that ranks have packed; null:
  // not known. Throws Error if none can be read.
  explicit SpoolSource(const std::vector<spool::SpoolDirectory>& directories,
                       RankResults rank_results = RankResults::kCompared,
                       symbols::CodeNames* names = nullptr, const Look* look = nullptr,
                       std::shared_ptr<const PackedRanks> packed = nullptr);

  const Definitions& definitions() const override { return definitions_; }
  void replay(std::span<RunSink* const> sinks, unsigned threads) override;

  // The profiles that threads aggregated while they ran, from their start or from the end of their
  // events. REQUIRES: called once.
  std::map<LocationId, profile::AggregatedLocation> take_profiles() { return std::move(profiles_); }

  // The memory of call paths; empty: it was not recorded.
  const std::vector<MemoryOfPath>& memory() const { return memory_; }

  // True if the run shall have events (not where threads aggregated from their start), and a
  // profile.
  bool wants_trace() const { return !profile_mode_ && !wants_only("profile"); }
  bool wants_profile() const { return !wants_trace() || !wants_only("trace"); }
  // True if the trace shall be packed instead of an OTF2 archive.
  bool wants_packed() const noexcept { return packed_; }
  // REQUIRES: conversions of ranks are ignored, since these are files of OTF2.
  void pack(bool packed) noexcept { packed_ = packed; }

  // The events of the processes that have converted their own; replay() leaves these processes out.
  // The results refer to this object.
  std::vector<otf2::EventFiles> event_files() const;
  bool has_conversions() const;
  // The same for the processes whose blocks a packed trace takes as they are.
  std::vector<packed::TakenPart> taken_parts() const;
  // See weave_rank(). REQUIRES: the source has a single spool.
  bool can_be_converted() const;
  // The same for blocks with times in ticks, which replace the log.
  bool can_be_packed() const;
  const ProcessClock& clock_of_rank() const { return processes_.front().clock; }
  // The result of replaying, except for the data in the sinks. REQUIRES: can_be_converted(), and
  // replay() has returned.
  RankResult rank_result() const;

  // Bytes of the records in the spools.
  std::uint64_t bytes() const noexcept { return total_bytes_ + profile_bytes_; }

  // Bytes of the samples there.
  std::uint64_t sample_bytes() const noexcept { return sample_bytes_; }

  // Counts of events; complete when replay() has returned.
  std::uint64_t events() const noexcept { return events_; }
  std::uint64_t closed_regions() const noexcept { return closed_regions_; }
  std::uint64_t damaged_segments() const noexcept { return damaged_segments_; }
  // Parts of recordings of other processes, which lie in files of these and are left out.
  std::uint64_t foreign_segments() const noexcept { return foreign_segments_; }
  std::uint64_t lost_events() const noexcept { return lost_events_; }
  std::uint64_t dropped_events() const noexcept { return dropped_events_; }
  // Events recorded, then dropped for newer ones at the size limit of the run; with the events of
  // teams whose start was dropped.
  std::uint64_t older_events() const noexcept { return older_events_; }
  std::uint64_t unreadable_spools() const noexcept { return unreadable_spools_; }
  // Of those that were killed before they could be left out by themselves.
  std::uint64_t workers_left_out() const noexcept { return workers_left_out_; }
  // False when a process was ended before it could finish its measurement.
  bool ended_in_order() const noexcept { return ended_; }
  // Processes that are still being measured: their records so far are read.
  std::uint64_t running() const noexcept { return running_; }
  // Processes on other machines or in other containers that may still be measured.
  std::uint64_t maybe_running() const noexcept { return maybe_running_; }
  // The ending of the run in words; empty: normal. Complete after construction.
  std::string ending() const;
  // The name of the profile, without .cubex; empty: the default.
  const std::string& profile_name() const noexcept { return profile_name_; }
  // Adds to the properties of the run. REQUIRES: before replay().
  void set_property(const std::string& key, const std::string& value) {
    definitions_.properties[key] = value;
  }
  // Reads the samples of CPU time, and adds their properties. `names`: of compiled code. REQUIRES:
  // called once, before replay().
  void add_samples(symbols::CodeNames& names);
  const SampleTable& samples() const noexcept { return samples_; }
  // The bytes of samples.timeloom. REQUIRES: called once.
  std::string take_sample_file() { return samples_.take_file(definitions_); }
  // The bytes of memory.timeloom; empty: no memory was recorded, or there is no trace. REQUIRES:
  // called once.
  std::string take_memory_file();
  // Samples in which functions were open that their process had throttled. Known after
  // add_samples().
  const std::vector<profile::EstimatedPath>& estimates() const noexcept { return estimates_; }
  // The CPU time of the samples of recorded calls, and its metric, which is defined if any process
  // was sampled. Without the samples of threads that aggregated from their start: their profiles
  // have the metric already.
  const SampledTimes& sampled_times() const noexcept { return sampled_times_; }
  MetricId sampled_time_metric() const noexcept { return sampled_time_metric_; }
  // The share of the records that has been fed, 0 to 1; any thread may call this.
  double progress() const noexcept;

 private:
  struct Process : WovenProcess {
    explicit Process(spool::SpoolDirectory where)
        : directory(std::move(where)), spool(directory.way()) {}
    spool::SpoolDirectory directory;
    std::string spool;                  // path of its directory
    std::string parent;                 // path of the parent's directory; or empty
    std::optional<std::uint32_t> rank;  // in the job of a launcher
    std::uint32_t spawn = 0;            // number of the spawn; `rank` counts within it
    bool is_rank() const { return rank && spawn == 0; }  // of the job itself
    bool running = false;
    // A child whose ending is recorded, or is the engine's, needs no other report.
    bool end_is_known() const {
      const spool::ProcessDefinitions& from = reader->definitions();
      return group.value() != 0 && (from.ending.kind != EndingKind::kNone ||
                                    !engine_that_ends(from.process.name).empty());
    }
    bool timed = false;             // start and end are its own, not the run's
    std::uint64_t first_ticks = 0;  // of start and end
    std::uint64_t last_ticks = 0;
    spool::Profiles profiles;
    spool::GpuData gpu_data{};
    spool::MemoryData memory{};       // with blocks only while they are used, see memory_log()
    std::size_t memory_paths = 0;     // so many of memory_ are of the process
    std::uint64_t memory_blocks = 0;  // so many were there when the process was opened
    std::uint64_t memory_last = 0;    // ticks: the last of its records
    spool::LockData locks{};
    // The result of a process that has converted its own events.
    std::vector<otf2::EventFiles::File> files{};
    RankResult::Moment converted_begin{}, converted_end{};
    bool is_converted() const { return !files.empty(); }
    // Packed events of a rank. Without a log they are its only events.
    const PackedRanks::Part* part = nullptr;
    bool has_log = true;
    std::vector<packed::TakenPart::OfLocation> blocks{};  // of a process that has converted
    // The meaning of the part, and its locations, where its events are replayed.
    std::shared_ptr<const packed::PartMeaning> meaning{};
    std::vector<RankResult::OfLocation> packed_locations{};
  };
  struct TaskLocations {  // the locations that are not threads
    std::uint64_t all = 0;
    std::uint64_t lanes = 0;
  };
  struct Task {  // one thread
    const Process* process;
    std::uint32_t index;  // of the thread in its process; of a part: of the location there
    std::uint64_t bytes;
  };

  void open_process(const spool::SpoolDirectory& directory);
  void add_process(Process& process, Unifier& unifier, CodeRegions& code);
  void note_unnamed_code(const CodeRegions& code);
  void take_property(const Process& process, const std::string& key, const std::string& value);
  void leave_out_unborn();
  void leave_out_killed_workers();
  void leave_out_forks();
  void set_process_clocks(const Look* look);
  void sort_processes();
  static void set_lifetime(Process& process, const Look* look);
  static std::uint64_t last_of_gpu(const Process& process, std::uint64_t known);
  void set_created(Process& process) const;
  void add_profiles();
  bool wants_only(const char* results) const;
  bool is_whole_rank(const Process& process) const;
  void add_rank_results(bool compared);
  bool fits(const RankResult& rank_result, const Process& process) const;
  void add_rank_result(RankResult& rank_result, Process& process);
  void add_counts(const RankResult& rank_result, const Process& process);
  std::optional<RankResult> packed_result_of(const Process& process) const;
  bool has_blocks(const Process& process) const;
  static packed::PackedLocationFacts packed_here(const packed::PackedLocationFacts& there,
                                                 const Process& process);
  packed::PartMeaning part_meaning_of(const RankResult& rank_result, const Process& process) const;
  void add_parts_without_logs();
  void add_tasks_of_part(const Process& process);
  void replay_part(const Task& task, std::span<RunSink* const> sinks);
  void add_creators();
  void add_reaped();
  void add_gpus();
  void add_gpu_locations(Process& process);
  void add_gpu_properties();
  void add_memory();
  static void open_memory(Process& process);
  // The births and deaths that were known when the process was opened, read again.
  static std::vector<spool::MemoryBlock> memory_log(const Process& process);
  void add_memory_curves();
  void add_memory_location(Process& process);
  void replay_memory(const Process& process, std::span<RunSink* const> sinks);
  void add_memory_of(const Process& process, const ProcessMemory& run);
  memory_file::Process memory_section(const Process& process, std::size_t first) const;
  std::uint64_t blocks_at(const Process& process, const ProcessMemory& run) const;
  // The end of its measurement, in nanoseconds since the start of the run.
  std::uint64_t last_of_memory(const Process& process) const;
  // `end`: of the process. `most`: becomes the growth of this process if it has grown more.
  void add_held(CommonPeak& common, const Process& process) const;
  void add_growth_of(const Process& process, std::uint64_t end, MemoryGrowth& most);
  void add_locks();
  // In nanoseconds, of the run.
  std::uint64_t since_begin(const Process& process, std::uint64_t ticks) const;
  void replay_gpu(const Process& process, std::span<RunSink* const> sinks);
  // The ending of a child, recorded by the process that waited for it.
  static std::optional<int> reaped_status(const Process& parent, std::uint64_t child);
  void add_causes();
  void add_sampled_times();
  void add_bytes_metrics();
  void add_bytes_metric(const char* name);
  const LocationGroup* rank_that_ended_first() const;
  void note_first(const Process& process, const char* key, const std::string& value);
  void take_names();
  // In words; empty: normal.
  static std::string ending_of(const spool::ProcessDefinitions& process, bool running);
  void set_clock();
  void add_locations();
  void add_location(const Process& process, std::uint32_t index);
  void add_members(const Process& process, std::uint64_t& room);
  void add_markers(const Process& process);
  void add_tasks();
  void add_properties();
  void add_aliases();
  bool is_whole() const;
  void add_cost();
  void add_cpu(const CpuTimes& times);
  void add_cost_of(const Process& process, const std::string& text);
  void note_regions(const Process& process, const std::string& ids, std::set<std::uint32_t>& noted);
  TaskLocations task_locations() const;
  void add_task_counts();
  void find_teams(unsigned threads);
  void replay_thread(const Task& task, std::span<RunSink* const> sinks);

  Definitions definitions_;
  SampleTable samples_;
  std::vector<profile::EstimatedPath> estimates_;
  SampledTimes sampled_times_;
  MetricId sampled_time_metric_{};
  std::vector<Process> processes_;
  bool has_ranks_ = false;
  std::vector<Task> tasks_;
  std::map<LocationId, profile::AggregatedLocation> profiles_;
  profile::AggregatedLocation aggregated_samples_;  // only the samples, from all profiles
  MessageBalance::Ends messages_;         // first of the conversions, then of all processes
  std::uint64_t conversions_cpu_ns_ = 0;  // that other processes used for converting
  std::vector<std::uint64_t> metric_totals_;
  std::vector<MemoryOfPath> memory_;
  MetricId memory_metric_{};  // the bytes that a process holds
  bool profile_mode_ = false;
  bool members_unknown_ = false;           // members of some communicator are unknown
  std::set<std::uint32_t> throttled_;      // regions that some process did not time to its end
  std::set<std::uint32_t> truncated_;      // the same for single visits
  std::vector<ObservedCpu> observed_cpu_;  // of processes with a limit whose instrumenter paused
  CpuTimes cpu_;                           // of all processes, as far as they are known
  NativeThreadsByName native_threads_;     // the same
  std::uint64_t workers_left_out_ = 0;
  std::uint64_t clock_error_ns_ = 0;      // the longest of all comparisons with other hosts
  ResidentPeak resident_;                 // of the process with the most
  CostSum cost_;                          // of measuring, over all processes
  std::optional<std::uint64_t> windows_;  // windows that were recorded; empty: unknown
  std::uint64_t aggregated_events_ = 0;   // of threads that have other events, too
  std::uint64_t total_bytes_ = 0;
  std::uint64_t profile_bytes_ = 0;
  std::uint64_t sample_bytes_ = 0;
  bool ended_ = true;
  std::string profile_name_;
  bool has_aliases_ = false;
  bool packed_ = false;
  bool in_ticks_ = false;
  std::shared_ptr<const PackedRanks> packed_ranks_;
  std::uint64_t running_ = 0;
  std::uint64_t maybe_running_ = 0;
  std::uint64_t spark_workers_ = 0;  // numbered so far
  std::atomic<std::uint64_t> done_bytes_ = 0;
  bool teams_known_ = false;  // definitions_ has the teams of the run, if it has any
  std::atomic<std::uint64_t> events_ = 0;
  std::atomic<std::uint64_t> closed_regions_ = 0;
  std::atomic<std::uint64_t> damaged_segments_ = 0;
  std::atomic<std::uint64_t> dropped_events_ = 0;
  std::atomic<std::uint64_t> older_events_ = 0;
  std::atomic<std::uint64_t> kept_rewinds_ = 0;
  std::atomic<std::uint64_t> unnamed_visits_ = 0;  // of regions whose definition is lost
  std::atomic<std::uint64_t> tasks_on_lanes_ = 0;
  std::uint64_t lost_events_ = 0;
  std::uint64_t events_left_out_ = 0;
  std::uint64_t unreadable_spools_ = 0;
  std::uint64_t foreign_segments_ = 0;
};

}  // namespace timeloom::weave
