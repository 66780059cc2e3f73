// The part of SpoolSource that reads the conversions of ranks and makes one for a rank.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "core/error.hpp"
#include "core/teams/teams.hpp"
#include "os/process.hpp"
#include "weave/ranks/result_ids.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace {

// The id in the process, by id of the run or of the conversion.
template <typename Definitions>
Ids inverse_of(const Definitions& of_process, const IdMap& ids, std::size_t count) {
  Ids result(count, IdMap::kNone);
  for (const auto& [id, definition] : of_process) {
    const std::uint32_t to = ids[id];
    if (to < count && result[to] == IdMap::kNone) result[to] = id;
  }
  return result;
}

bool all_are_known(const Ids& ids) { return std::ranges::find(ids, IdMap::kNone) == ids.end(); }

// Metrics that are sampled together are one definition in OTF2, with all members in order.
bool has_same_sets(const Ids& metrics, const std::vector<Metric>& of_run) {
  std::map<std::string, std::vector<std::uint32_t>> there, here;
  for (const std::uint32_t id : metrics) {
    if (of_run[id].sampled()) there[of_run[id].set].push_back(id);
  }
  for (std::uint32_t id = 0; id < of_run.size(); ++id) {
    if (of_run[id].sampled()) here[of_run[id].set].push_back(id);
  }
  return std::ranges::all_of(there, [&](const auto& set) { return here[set.first] == set.second; });
}

// Converts times of a conversion to times of the run: both clocks are lines, so this is a line.
class TimesHere {
 public:
  TimesHere(const RankResult::Moment& begin, const RankResult::Moment& end,
            const ProcessClock& clock)
      : offsets_{offset_at(begin, clock), offset_at(end, clock)} {}

  const std::array<otf2::EventFiles::Offset, 2>& offsets() const { return offsets_; }
  // The value that the OTF2 library computes for a time.
  std::uint64_t of(std::uint64_t time) const {
    const auto& [first, last] = offsets_;
    const double slope =
        static_cast<double>(last.added - first.added) / static_cast<double>(last.time - first.time);
    const double since = static_cast<double>(static_cast<std::int64_t>(time - first.time));
    return time + static_cast<std::uint64_t>(first.added + std::llrint(slope * since));
  }

 private:
  static otf2::EventFiles::Offset offset_at(const RankResult::Moment& moment,
                                            const ProcessClock& clock) {
    const std::uint64_t here = ticks(clock.to_time(moment.ticks));
    return {moment.time, static_cast<std::int64_t>(here - moment.time)};
  }

  std::array<otf2::EventFiles::Offset, 2> offsets_;
};

// The range of times of a clock between start and end; empty where `first` is behind `last`.
bool is_within(const RankResult& rank_result, std::uint64_t first, std::uint64_t last) {
  return first > last || (first >= rank_result.begin.time && last <= rank_result.end.time);
}

// Both lines know the speed of the clock, so only damage makes them differ by more.
bool has_sound_clock(const RankResult& rank_result, const ProcessClock& clock) {
  constexpr std::uint64_t kLatest = std::uint64_t{1} << 62;
  constexpr double kMostSlope = 0.01;
  const auto& [begin, end] = std::tie(rank_result.begin, rank_result.end);
  if (begin.time >= end.time || end.time > kLatest || begin.ticks >= end.ticks) return false;
  const std::uint64_t from = ticks(clock.to_time(begin.ticks));
  const std::uint64_t to = ticks(clock.to_time(end.ticks));
  const double here = static_cast<double>(to - std::min(to, from));
  const double there = static_cast<double>(end.time - begin.time);
  return to <= kLatest && std::abs(here / there - 1) < kMostSlope;
}

// Tables are built for references, see local_definitions.cpp.
bool has_sound_references(const RankResult& rank_result, std::size_t metrics_here) {
  const otf2::EventReferences& all = rank_result.references;
  constexpr std::uint32_t kMostFixed = 16;
  // A location has an instance of each class at most.
  const std::size_t most = (metrics_here + 1) * (rank_result.locations.size() + 1);
  // Ascending, so that a table of them is built in linear time.
  const bool ascending = std::ranges::adjacent_find(all.string_references, std::greater_equal()) ==
                         all.string_references.end();
  return ascending && all.offset_attribute < kMostFixed && all.memory_attribute < kMostFixed &&
         all.first_communicator < kMostFixed &&
         all.strings.size() == all.string_references.size() &&
         std::ranges::all_of(all.metrics, [&](const auto& one) {
           return one.reference < most && one.first < rank_result.ids.metrics.size();
         });
}

bool is_sound(const profile::AggregatedLocation& aggregated, const RankResult::Ids& ids) {
  const std::size_t nodes = aggregated.nodes.size();
  for (std::size_t i = 0; i < nodes; ++i) {
    const profile::AggregatedNode& node = aggregated.nodes[i];
    if (i > 0 && node.parent >= i) return false;
    if (node.region != profile::kNoRegion && node.region >= ids.regions.size()) return false;
  }
  const auto is_metric = [&](const auto& one) {
    return one.node < nodes && one.metric.value() < ids.metrics.size();
  };
  return std::ranges::all_of(aggregated.metrics, is_metric) &&
         std::ranges::all_of(aggregated.samples, is_metric) &&
         std::ranges::all_of(aggregated.milestones,
                             [&](const auto& one) { return one.node < nodes; }) &&
         std::ranges::all_of(aggregated.parts, [&](const auto& one) { return one.node < nodes; }) &&
         std::ranges::all_of(aggregated.parameters, [&](const auto& one) {
           return one.node < nodes && one.base < nodes &&
                  one.parameter.value() < ids.parameters.size();
         });
}

struct IdsHere {
  Ids regions, strings, parameters, metrics;
};

// Replaces ids and times by ids and times of the run.
void translate(profile::AggregatedLocation& aggregated, const IdsHere& ids, const TimesHere& times,
               const std::vector<Parameter>& parameters) {
  for (profile::AggregatedNode& node : aggregated.nodes) {
    if (node.region != profile::kNoRegion) node.region = ids.regions[node.region];
  }
  for (auto& one : aggregated.parameters) {
    one.parameter = ParameterId{ids.parameters[one.parameter.value()]};
    const bool text = parameters[one.parameter.value()].type == ParameterType::kString;
    if (text) one.value = one.value < ids.strings.size() ? ids.strings[one.value] : IdMap::kNone;
  }
  for (auto& one : aggregated.metrics) one.metric = MetricId{ids.metrics[one.metric.value()]};
  for (auto& one : aggregated.samples) one.metric = MetricId{ids.metrics[one.metric.value()]};
  if (aggregated.last == Timestamp{}) return;
  aggregated.first = Timestamp{times.of(ticks(aggregated.first))};
  aggregated.last = Timestamp{times.of(ticks(aggregated.last))};
}

// True if the event files exist and, where they have to be compared, have their checksums.
bool has_events(const spool::SpoolDirectory& spool, const RankResult& rank_result, bool compared) {
  return std::ranges::all_of(rank_result.locations, [&](const RankResult::OfLocation& one) {
    int error = 0;
    const os::File file = spool.open(event_file(one.there), &error);
    return file.is_plain() && file.size(&error) == one.bytes && error == 0 &&
           (!compared || check_of(file) == one.check);
  });
}

}  // namespace

bool SpoolSource::wants_only(const char* results) const {
  const auto found = definitions_.properties.find("timeloom::results");
  return found != definitions_.properties.end() && found->second == results;
}

// True for a rank of the job whose events are all there.
bool SpoolSource::is_whole_rank(const Process& process) const {
  const auto is_profiled = [&](std::uint32_t index) {
    return profiles_.contains(location_id(process, index));
  };
  return process.is_rank() && process.timed && !process.running && process.reader->complete() &&
         std::ranges::none_of(process.locations, is_profiled);
}

bool SpoolSource::can_be_converted() const {
  return !profile_mode_ && !members_unknown_ && !processes_.front().gpu &&
         !processes_.front().has_memory_curve && !has_teams(definitions_) &&
         is_whole_rank(processes_.front());
}

RankResult SpoolSource::rank_result() const {
  const Process& process = processes_.front();
  const spool::ProcessDefinitions& from = process.reader->definitions();
  RankResult result;
  result.with_trace = wants_trace();
  result.with_profile = wants_profile();
  result.counts = {events_,       bytes(),         closed_regions_,     dropped_events_,
                   kept_rewinds_, tasks_on_lanes_, os::process_cpu_ns()};
  // Far behind the end the line stays the same, and no event lies there.
  const std::uint64_t behind = 2 * process.last_ticks - process.first_ticks + (1u << 30);
  result.begin = {process.first_ticks, ticks(process.begin)};
  result.end = {behind, ticks(process.clock.to_time(behind))};
  result.messages = messages_;
  result.metric_totals = metric_totals_;
  result.metric_totals.resize(definitions_.metrics.size());
  for (const Metric& metric : definitions_.metrics) result.metric_names.push_back(metric.name);
  result.ids.regions = inverse_of(from.regions, process.ids.regions, definitions_.regions.size());
  result.ids.strings = inverse_of(from.strings, process.ids.strings, definitions_.strings.size());
  result.ids.parameters =
      inverse_of(from.parameters, process.ids.parameters, definitions_.parameters.size());
  result.ids.metrics = inverse_of(from.metrics, process.ids.metrics, definitions_.metrics.size());
  result.ids.communicators =
      inverse_of(from.communicators, process.ids.communicators, definitions_.communicators.size());
  result.ids.io_handles =
      inverse_of(from.io_handles, process.ids.io_handles, definitions_.io_handles.size());
  for (const Location& location : definitions_.locations) {
    const auto index = std::ranges::find(process.locations, location.id, [&](std::uint32_t one) {
      return location_id(process, one);
    });
    result.locations.push_back({*index, location.id, {}, 0, 0, {}, {}});
  }
  return result;
}

void SpoolSource::add_rank_results(bool compared) {
  const bool with_blocks = packed_ && wants_trace();
  for (Process& process : processes_) {
    if (!is_whole_rank(process)) continue;
    std::optional<RankResult> rank_result =
        with_blocks ? packed_result_of(process) : read_rank_result(process.directory);
    if (!rank_result || !fits(*rank_result, process)) continue;
    const bool has_all = with_blocks ? !compared || has_blocks(process)
                                     : has_events(process.directory, *rank_result, compared);
    if (wants_trace() && !has_all) continue;
    add_rank_result(*rank_result, process);
  }
}

bool SpoolSource::fits(const RankResult& rank_result, const Process& process) const {
  if (wants_trace() && !rank_result.with_trace) return false;
  if (wants_profile() && !rank_result.with_profile) return false;
  if (!has_sound_clock(rank_result, process.clock)) return false;
  if (!has_sound_references(rank_result, definitions_.metrics.size())) return false;
  std::set<std::uint32_t> indices;
  for (const RankResult::OfLocation& one : rank_result.locations) {
    indices.insert(one.index);
    if (!is_sound(one.aggregated, rank_result.ids)) return false;
    if (!is_within(rank_result, one.count.first, one.count.last)) return false;
    if (one.packed.last > rank_result.end.ticks) return false;
    const Timestamp last = one.aggregated.last;
    if (last != Timestamp{} && !is_within(rank_result, ticks(one.aggregated.first), ticks(last))) {
      return false;
    }
  }
  if (rank_result.locations.size() != indices.size()) return false;
  if (!std::ranges::equal(indices, process.locations)) return false;
  const Ids metrics = metrics_here(rank_result, process.ids.metrics, definitions_.metrics);
  return all_are_known(ids_here(rank_result.ids.regions, process.ids.regions)) &&
         all_are_known(ids_here(rank_result.ids.parameters, process.ids.parameters)) &&
         all_are_known(ids_here(rank_result.ids.communicators, process.ids.communicators)) &&
         all_are_known(ids_here(rank_result.ids.io_handles, process.ids.io_handles)) &&
         all_are_known(metrics) && has_same_sets(metrics, definitions_.metrics) &&
         rank_result.metric_totals.size() == metrics.size();
}

// Counts the events that replaying the process would have counted.
void SpoolSource::add_rank_result(RankResult& rank_result, Process& process) {
  const IdsHere ids{ids_here(rank_result.ids.regions, process.ids.regions),
                    ids_here(rank_result.ids.strings, process.ids.strings),
                    ids_here(rank_result.ids.parameters, process.ids.parameters),
                    metrics_here(rank_result, process.ids.metrics, definitions_.metrics)};
  const TimesHere times(rank_result.begin, rank_result.end, process.clock);
  for (RankResult::OfLocation& one : rank_result.locations) {
    const LocationId here = location_id(process, one.index);
    if (wants_profile()) {
      translate(one.aggregated, ids, times, definitions_.parameters);
      const bool any_packed = one.packed.first <= one.packed.last;
      if (any_packed && one.aggregated.last != Timestamp{}) {  // exactly the times of the trace
        one.aggregated.first = process.clock.to_time(one.packed.first);
        one.aggregated.last = process.clock.to_time(one.packed.last);
      }
      profiles_.insert_or_assign(here, std::move(one.aggregated));
    }
    const bool any = one.count.first <= one.count.last;
    const otf2::EventCount count = {one.count.events, any ? times.of(one.count.first) : UINT64_MAX,
                                    any ? times.of(one.count.last) : 0};
    process.files.push_back({one.there, here, count});
    if (rank_result.is_packed) process.blocks.push_back({here, packed_here(one.packed, process)});
  }
  process.converted_begin = rank_result.begin;
  process.converted_end = rank_result.end;
  for (std::size_t i = 0; i < ids.metrics.size(); ++i) {
    aggregated_samples_.samples.push_back(
        {0, MetricId{ids.metrics[i]}, rank_result.metric_totals[i]});
  }
  messages_.sum += rank_result.messages.sum;
  messages_.has_gaps = messages_.has_gaps || rank_result.messages.has_gaps;
  add_counts(rank_result, process);
}

void SpoolSource::add_counts(const RankResult& rank_result, const Process& process) {
  events_ += rank_result.counts.events;
  profile_bytes_ += rank_result.counts.bytes;
  if (!process.end_is_known()) closed_regions_ += rank_result.counts.closed_regions;
  dropped_events_ += rank_result.counts.dropped_events;
  kept_rewinds_ += rank_result.counts.kept_rewinds;
  tasks_on_lanes_ += rank_result.counts.tasks_on_lanes;
  conversions_cpu_ns_ += rank_result.counts.cpu_ns;
}

namespace {

// REQUIRES: the conversion belongs to the process.
otf2::EventFiles::Meaning meaning_of(RankResult&& rank_result, const WovenProcess& process,
                                     const std::vector<Metric>& all) {
  otf2::EventFiles::Meaning meaning;
  const Ids metrics = metrics_here(rank_result, process.ids.metrics, all);
  meaning.references = std::move(rank_result.references);
  for (auto& one : meaning.references.metrics) {
    one.first = metrics[one.first];
    const auto where =
        std::ranges::find(rank_result.locations, one.instance, &RankResult::OfLocation::there);
    one.instance =
        where == rank_result.locations.end() ? LocationId{} : location_id(process, where->index);
  }
  meaning.regions = ids_here(rank_result.ids.regions, process.ids.regions);
  meaning.parameters = ids_here(rank_result.ids.parameters, process.ids.parameters);
  meaning.communicators = ids_here(rank_result.ids.communicators, process.ids.communicators);
  meaning.io_handles = ids_here(rank_result.ids.io_handles, process.ids.io_handles);
  return meaning;
}

void put(const spool::SpoolDirectory& spool, LocationId there, const std::filesystem::path& to) {
  int error = 0;
  const os::File file = spool.open(event_file(there), &error);
  if (error == 0) error = file.link_to(to.string());
  if (error != 0) {
    throw Error("cannot put " + spool.path() + "/" + event_file(there) +
                " into the trace: " + std::strerror(error) + " [TL218]");
  }
}

}  // namespace

bool SpoolSource::has_conversions() const {
  return std::ranges::any_of(processes_, &Process::is_converted);
}

std::vector<otf2::EventFiles> SpoolSource::event_files() const {
  std::vector<otf2::EventFiles> result;
  for (const Process& process : processes_) {
    if (!process.is_converted()) continue;
    otf2::EventFiles files;
    files.process = process.group;
    files.files = process.files;
    const TimesHere times(process.converted_begin, process.converted_end, process.clock);
    files.offsets.assign(times.offsets().begin(), times.offsets().end());
    files.meaning = [this, &process] {
      std::optional<RankResult> rank_result = read_rank_result(process.directory);
      if (!rank_result || !fits(*rank_result, process)) {
        throw Error(process.directory.path() +
                    " has changed while it was woven; weave again [TL217]");
      }
      return meaning_of(std::move(*rank_result), process, definitions_.metrics);
    };
    files.put = [&process](const otf2::EventFiles::File& file, const std::filesystem::path& to) {
      weave::put(process.directory, file.there, to);
    };
    result.push_back(std::move(files));
  }
  return result;
}

}  // namespace timeloom::weave
