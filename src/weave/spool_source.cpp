#include "weave/spool_source.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <map>

#include "core/cpu_times.hpp"
#include "core/error.hpp"
#include "core/io.hpp"
#include "core/measuring_cost.hpp"
#include "core/mpi/communicator_groups.hpp"
#include "core/mpi/mpi_rank.hpp"
#include "core/mpi/spawned.hpp"
#include "core/parallel.hpp"
#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/teams/team_scan.hpp"
#include "core/throttled.hpp"
#include "run/run_layout.hpp"
#include "spool/fork_handlers_property.hpp"
#include "weave/message_balance.hpp"
#include "weave/metric_totals.hpp"
#include "weave/process_order.hpp"
#include "weave/profiled_thread.hpp"

namespace timeloom::weave {
namespace {

constexpr char kCreator[] = "Timeloom " TIMELOOM_VERSION;

}  // namespace

SpoolSource::SpoolSource(const std::vector<spool::SpoolDirectory>& directories,
                         RankResults rank_results, symbols::CodeNames* names, const Look* look,
                         std::shared_ptr<const PackedRanks> packed)
    : in_ticks_(rank_results == RankResults::kIgnoredInTicks), packed_ranks_(std::move(packed)) {
  definitions_.creator = kCreator;
  std::exception_ptr failure;
  for (const spool::SpoolDirectory& directory : directories) {
    try {
      open_process(directory);
    } catch (const Error&) {
      if (!failure) failure = std::current_exception();
      if (!spool::was_killed_at_begin(directory)) ++unreadable_spools_;
    }
  }
  if (processes_.empty() && failure) std::rethrow_exception(failure);
  if (processes_.empty()) throw Error("the run holds no spool to weave [TL216]");
  leave_out_unborn();
  leave_out_killed_workers();
  leave_out_forks();
  set_process_clocks(look);
  sort_processes();
  has_ranks_ = std::ranges::any_of(processes_, &Process::is_rank);
  Unifier unifier(definitions_);
  if (look != nullptr) unifier.number_regions_as(*look->regions);
  CodeRegions code(names);
  for (Process& process : processes_) add_process(process, unifier, code);
  note_unnamed_code(code);
  add_bytes_metrics();
  add_causes();
  add_creators();
  add_reaped();
  take_names();
  set_clock();
  add_gpus();
  add_memory_curves();
  add_locations();
  add_sampled_times();
  if (has_aliases_) add_aliases();
  add_memory();
  add_locks();
  add_profiles();
  if (rank_results >= RankResults::kCompared) {
    add_rank_results(rank_results == RankResults::kCompared);
  }
  add_parts_without_logs();
  add_tasks();
  add_properties();
}

void SpoolSource::open_process(const spool::SpoolDirectory& directory) {
  Process process(directory);
  process.part = packed_ranks_ ? packed_ranks_->part_of(directory) : nullptr;
  process.has_log = process.part == nullptr || spool::has_log(directory);
  process.reader = spool::Reader::open(directory, process.has_log);
  const spool::ProcessDefinitions& from = process.reader->definitions();
  if (!from.parent.empty()) {
    process.parent = way_to_parent(process.spool, from.parent);
  }
  process.rank = number_of(from.properties, kRank);
  process.spawn = process.rank ? number_of(from.properties, kSpawn).value_or(0) : 0;
  process.running = process.reader->alive() == Alive::kYes;
  if (process.reader->alive() == Alive::kUnknown) ++maybe_running_;
  process.profiles = spool::read_profiles(directory);
  process.reader->catch_up();  // with the regions that the profiles refer to
  process.gpu_data = spool::read_gpu(directory);
  open_memory(process);
  process.locks = spool::read_locks(directory);
  process.waits = spool::read_waits(directory);
  process.samples = spool::read_samples(directory);
  process.sampled_places = take_places(process.samples, process.profiles.profiles);
  if (from.properties.contains(kSampledCalls)) process.sampled_places.clear();
  sample_bytes_ += process.samples.bytes;
  processes_.push_back(std::move(process));
}

// Children that were killed while they started and have recorded nothing, not even a name.
void SpoolSource::leave_out_unborn() {
  const auto unborn = [](const Process& process) {
    return !process.running && process.reader->definitions().clock_syncs.empty() &&
           process.reader->locations().empty();
  };
  if (!std::ranges::all_of(processes_, unborn)) std::erase_if(processes_, unborn);
}

// Workers that were killed before they had a name that the setting `workers` chooses.
void SpoolSource::leave_out_killed_workers() {
  const auto left_out = [](const Process& process) {
    const auto& properties = process.reader->definitions().properties;
    const auto found = properties.find(kMayBeLeftOut);
    return !process.running && found != properties.end() && found->second == "1";
  };
  if (std::ranges::all_of(processes_, left_out)) return;
  workers_left_out_ = std::erase_if(processes_, left_out);
}

void SpoolSource::sort_processes() {
  std::vector<ProcessBirth> births;
  for (const Process& process : processes_) {
    const spool::ProcessDefinitions& from = process.reader->definitions();
    births.push_back({process.spool, process.parent, from.process.name, from.process.process_id,
                      process.timed, process.begin, process.rank, process.spawn});
  }
  std::vector<Process> sorted;
  for (const std::size_t i : order_of(births)) sorted.push_back(std::move(processes_[i]));
  processes_ = std::move(sorted);
  // The ids of a rank's own conversion begin with the rank.
  if (run::layout_of(processes_.front().reader->definitions().properties).dense_ids) return;
  std::stable_partition(processes_.begin(), processes_.end(),
                        [](const Process& p) { return p.is_rank(); });
}

void SpoolSource::add_process(Process& process, Unifier& unifier, CodeRegions& code) {
  const spool::Reader& reader = *process.reader;
  const spool::ProcessDefinitions& from = reader.definitions();
  process.ids = from.addresses.empty() ? unifier.add(from, from.regions, reader.complete())
                                       : unifier.add(from, code.named(from), reader.complete());
  process.group = LocationGroupId{static_cast<std::uint32_t>(definitions_.groups.size())};
  set_created(process);
  ended_ = ended_ && from.ended;
  if (process.running) ++running_;
  lost_events_ += from.lost_events;
  older_events_ += from.dropped_events;
  damaged_segments_ += reader.damage().segments + reader.damage().missing_segments;
  foreign_segments_ += reader.foreign_segments();
  LocationGroup group = from.process;
  if (group.name.empty()) group.name = "Process";
  if (process.rank) {
    group.name = from.properties.contains(kPlainRank)
                     ? name_of_plain_rank(*process.rank)
                     : name_of_mpi_rank(*process.rank, process.spawn);
  }
  if (group.name == kSparkWorker) group.name += " " + std::to_string(++spark_workers_);
  group.ending = ending_of(from, process.running);
  definitions_.groups.push_back(std::move(group));
  if (!from.properties.contains(kProcessCost)) cost_.add_unknown();
  // A process that was killed while it closed its spool has left both.
  if (!from.ended && !from.properties.contains(kCpuTimes)) add_cpu(from.cpu);
  for (const auto& [name, threads] : from.native_threads) {
    if (threads.threads > 0) add(native_threads_[name], threads);
  }
  for (const auto& [key, value] : from.properties) take_property(process, key, value);
}

void SpoolSource::add_cpu(const CpuTimes& times) {
  cpu_.process += times.process;
  cpu_.other += times.other;
}

void SpoolSource::add_cost_of(const Process& process, const std::string& text) {
  cost_.add(process_cost_of(text));
  if (!run::layout_of(process.reader->definitions().properties).cost_by_process) return;
  definitions_.properties[process_cost_property(process.group.value())] = text;
}

// The bytes of I/O and of messages, by call path: the code that aggregates events finds these
// metrics by their names.
void SpoolSource::add_bytes_metrics() {
  if (!definitions_.io_handles.empty()) {
    for (const char* name : {kIoBytesRead, kIoBytesWritten}) add_bytes_metric(name);
  }
  if (!definitions_.communicators.empty()) {
    for (const char* name : {kBytesSent, kBytesReceived}) add_bytes_metric(name);
  }
}

void SpoolSource::add_bytes_metric(const char* name) {
  auto& metrics = definitions_.metrics;
  if (std::ranges::find(metrics, name, &Metric::name) != metrics.end()) return;
  Metric metric;
  metric.name = name;
  metric.unit = "bytes";
  metric.type = MetricValueType::kUint64;
  metric.source = MetricSource::kOther;
  metrics.push_back(std::move(metric));
}

// A rank that converts its events alone has the same number there.
void SpoolSource::set_created(Process& process) const {
  constexpr std::uint64_t kNoRank = std::uint64_t{1} << 31;
  if (process.is_rank()) {
    process.ids.threads.rank = *process.rank;
  } else {
    process.ids.threads.rank = (has_ranks_ ? kNoRank : 0) | process.group.value();
  }
  for (const auto& [index, thread] : process.reader->definitions().threads) {
    if (thread.number == 0) continue;
    auto& end = process.ids.threads.ends[thread.number];
    if (thread.last != 0) end = process.clock.to_time(thread.last);
  }
}

// Names of spools are unique in a run; process ids are not.
void SpoolSource::add_creators() {
  std::map<std::string, std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < processes_.size(); ++rank) {
    ranks[processes_[rank].spool] = rank;
  }
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
    const auto found = ranks.find(processes_[rank].parent);
    if (found != ranks.end()) definitions_.groups[rank].creator = LocationGroupId{found->second};
  }
}

void SpoolSource::add_location(const Process& process, std::uint32_t index) {
  const auto& threads = process.reader->definitions().threads;
  Location location;
  location.id = location_id(process, index);
  location.group = process.group;
  location.name = "Thread " + std::to_string(index);
  if (const auto thread = threads.find(index); thread != threads.end()) {
    location.name = thread->second.name;
    location.thread_id = thread->second.thread_id;
    if (thread->second.has_metrics) location.type = LocationType::kMetric;
  }
  definitions_.locations.push_back(std::move(location));
}

// Each process has recorded its own rank in its communicators. `room`: places left for members that
// no process may turn out to be. Larger sizes come from damage or, for a single rank, from very
// many communicators.
void SpoolSource::add_members(const Process& process, std::uint64_t& room) {
  for (const auto& [id, local] : process.reader->definitions().communicators) {
    Communicator& one = definitions_.communicators[process.ids.communicators[id]];
    const std::size_t known = one.members.size();
    if (local.size > known + room) {
      members_unknown_ = true;
      continue;
    }
    add_member(one, local, location_id(process, 0));
    room -= std::min<std::uint64_t>(room, one.members.size() - known);
  }
}

void SpoolSource::add_markers(const Process& process) {
  for (const auto& mark : process.reader->definitions().markers) {
    const LocationId location = location_id(process, mark.thread);
    if (!location.defined()) {
      ++dropped_events_;  // its thread is not known
      continue;
    }
    definitions_.markers.push_back(
        {std::max(process.clock.to_time(mark.ticks), process.begin), location, mark.text});
  }
}

void SpoolSource::add_locations() {
  const bool dense = run::layout_of(definitions_.properties).dense_ids;
  // Where all processes were measured, each member has its record. A rank that converts its own
  // events knows no other members: there is room for 16 communicators of half a million.
  std::uint64_t room = 1 << 23;
  for (const Process& process : processes_) {
    room += process.reader->definitions().communicators.size();
  }
  for (Process& process : processes_) {
    process.locations = process.reader->locations();
    // Killed before it defined a thread. Readers do not accept a trace without locations.
    if (process.locations.empty()) process.locations.push_back(0);
    if (dense) process.first_location = LocationId{definitions_.locations.size()};
    for (const std::uint32_t index : process.locations) add_location(process, index);
    add_gpu_locations(process);
    add_memory_location(process);
    add_members(process, room);
    add_markers(process);
  }
  std::stable_sort(definitions_.locations.begin(), definitions_.locations.end(),
                   [](const Location& a, const Location& b) { return a.id < b.id; });
  std::stable_sort(definitions_.markers.begin(), definitions_.markers.end(),
                   [](const Marker& a, const Marker& b) { return a.time < b.time; });
}

// True if the creators of threads were recorded.
bool has_pthreads(const spool::ProcessDefinitions& definitions) {
  return std::ranges::any_of(definitions.regions, [](const auto& entry) {
    return entry.second.role == RegionRole::kThreadCreate &&
           entry.second.paradigm == Paradigm::kPthread;
  });
}

// Threads are named by their place, because scripts look for such names. Tasks have no place and
// keep theirs.
void SpoolSource::add_aliases() {
  for (std::uint32_t rank = 0; rank < definitions_.groups.size(); ++rank) {
    if (!processes_[rank].rank) definitions_.groups[rank].alias = name_of_rank(rank);
  }
  std::vector<std::uint32_t> orphans(processes_.size()), created(processes_.size());
  for (const Process& process : processes_) {
    const auto& threads = process.reader->definitions().threads;
    const bool pthreads = has_pthreads(process.reader->definitions());
    for (const std::uint32_t index : process.locations) {
      if (process.is_added(index)) break;
      const auto thread = threads.find(index);
      if (thread != threads.end() && thread->second.owner) continue;
      const auto found = std::ranges::lower_bound(definitions_.locations,
                                                  location_id(process, index), {}, &Location::id);
      const std::uint32_t rank = process.group.value();
      found->alias = index == 0 ? "Master thread"
                     : pthreads ? "Pthread thread " + std::to_string(++created[rank])
                                : "Orphan thread " + std::to_string(++orphans[rank]);
    }
  }
}

void SpoolSource::add_profiles() {
  for (Process& process : processes_) {
    std::uint64_t closed = 0;
    const bool ended = process.reader->definitions().ended;
    for (const spool::ProfileData& data : process.profiles.profiles) {
      profile::AggregatedLocation aggregated =
          folded_of(data, process, definitions_.metrics, closed);
      unnamed_visits_ += unnamed_visits(aggregated, process.ids.regions);
      events_ += aggregated.events;
      profile_bytes_ += (data.places.size() + 1) * sizeof(spool::ProfileNode);
      auto& samples = aggregated_samples_.samples;
      samples.insert(samples.end(), aggregated.samples.begin(), aggregated.samples.end());
      if (data.continues) aggregated_events_ += aggregated.events;
      profile_mode_ = profile_mode_ || !data.continues;
      profiles_.insert_or_assign(location_id(process, data.location), std::move(aggregated));
      if (data.damaged || (ended && !data.sealed)) ++damaged_segments_;
    }
    damaged_segments_ += process.profiles.unreadable;
    profile_mode_ = profile_mode_ || process.profiles.unreadable != 0;
    if (ended) damaged_segments_ += process.profiles.empty;  // a kill leaves such files
    process.profiles = {};
    if (!process.end_is_known()) closed_regions_ += closed;
  }
}

void SpoolSource::add_tasks() {
  for (const Process& process : processes_) {
    if (process.is_converted()) continue;
    if (!process.has_log) {
      add_tasks_of_part(process);
      continue;
    }
    const auto& threads = process.reader->definitions().threads;
    for (const std::uint32_t index : process.locations) {
      if (process.is_added(index)) break;
      const auto thread = threads.find(index);
      if (thread != threads.end() && thread->second.owner) continue;  // added with its thread
      const std::uint64_t bytes = process.reader->bytes(index);
      if (bytes == 0 && profiles_.contains(location_id(process, index))) continue;
      tasks_.push_back({&process, index, bytes});
      total_bytes_ += bytes;
    }
  }
  // The largest first, so that no thread is left with it at the end.
  std::stable_sort(tasks_.begin(), tasks_.end(),
                   [](const Task& a, const Task& b) { return a.bytes > b.bytes; });
}

double SpoolSource::progress() const noexcept {
  return total_bytes_ == 0 ? 1.0
                           : static_cast<double>(done_bytes_) / static_cast<double>(total_bytes_);
}

void SpoolSource::replay_thread(const Task& task, std::span<RunSink* const> sinks) {
  if (!task.process->has_log) return replay_part(task, sinks);
  // Told before the replay: counts of events depend on the order of the threads until it has ended.
  const bool misses_begin = task.process->reader->misses_begin();
  const TeamsOfRun teams = {teams_known_, definitions_.teams.get(), misses_begin};
  ThreadReplay replay(*task.process, task.index, definitions_.locations, sinks, teams);
  replay.run([this](std::uint64_t bytes) { done_bytes_ += bytes; });
  events_ += replay.events();
  if (!task.process->end_is_known()) closed_regions_ += replay.closed_regions();
  dropped_events_ += replay.dropped_events();
  older_events_ += replay.older_events();
  kept_rewinds_ += replay.kept_rewinds();
  unnamed_visits_ += replay.unnamed_visits();
  tasks_on_lanes_ += replay.tasks_on_lanes();
  damaged_segments_ += replay.damaged_segments();
}

// Counts of events are made by the replaying that follows.
void SpoolSource::find_teams(unsigned threads) {
  TeamScan scan;
  const std::array<RunSink*, 1> sinks = {&scan};
  scan.begin(definitions_);
  for_each_in_parallel(tasks_.size(), threads, [&](std::size_t i) {
    if (!tasks_[i].process->has_log) return;  // parts have no teams
    ThreadReplay replay(*tasks_[i].process, tasks_[i].index, definitions_.locations, sinks);
    replay.run([](std::uint64_t) {});
  });
  scan.finish();
  definitions_.teams = scan.take();
}

void SpoolSource::replay(std::span<RunSink* const> sinks, unsigned threads) {
  MetricTotals totals;
  std::vector<RunSink*> all(sinks.begin(), sinks.end());
  const bool with_metrics = MetricTotals::wanted(definitions_);
  if (with_metrics) all.push_back(&totals);
  MessageBalance messages;
  const bool with_messages = MessageBalance::wanted(definitions_);
  teams_known_ = std::ranges::any_of(sinks, &RunSink::wants_teams);
  if (teams_known_ && has_teams(definitions_)) find_teams(threads);
  if (with_messages) all.push_back(&messages);
  for (RunSink* sink : all) sink->begin(definitions_);
  if (with_metrics) totals.add(aggregated_samples_);
  for_each_in_parallel(tasks_.size(), threads,
                       [&](std::size_t i) { replay_thread(tasks_[i], all); });
  for_each_in_parallel(processes_.size(), threads,
                       [&](std::size_t i) { replay_gpu(processes_[i], all); });
  for (const Process& process : processes_) replay_memory(process, all);
  add_properties();
  if (with_metrics) totals.add_to(definitions_.properties);
  messages.add(messages_);
  messages_ = messages.ends();
  metric_totals_ = totals.totals();
  if (with_messages && messages.complete() && is_whole()) {
    definitions_.properties[kMessagesComplete] = "true";
  }
  add_cost();
  for (RunSink* sink : sinks) sink->finish();
}

}  // namespace timeloom::weave
