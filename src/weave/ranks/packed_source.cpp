// The part of SpoolSource for ranks that have packed their own events.
#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/samples/sampled_time.hpp"
#include "formats/packed/part_reader.hpp"
#include "weave/ranks/result_ids.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {

// The log is removed, so its other contents must be known from the definitions; and events whose
// times come from more than the ticks of one counter are left to the weave of the run.
bool SpoolSource::can_be_packed() const {
  if (!can_be_converted()) return false;
  const Process& process = processes_.front();
  const spool::ProcessDefinitions& from = process.reader->definitions();
  const bool defined = std::ranges::all_of(
      process.locations, [&](std::uint32_t index) { return from.threads.contains(index); });
  const std::uint64_t first = process.reader->first_ticks().value_or(UINT64_MAX);
  const bool starts = !from.clock_syncs.empty() && from.clock_syncs.front().ticks <= first;
  return defined && starts && from.cuts.empty() && !from.may_miss_begin && from.last_log == 0 &&
         !from.properties.contains(kSampledCalls);
}

std::optional<RankResult> SpoolSource::packed_result_of(const Process& process) const {
  if (process.part == nullptr) return std::nullopt;
  return packed_ranks_->result(*process.part, process.directory);
}

bool SpoolSource::has_blocks(const Process& process) const {
  os::File file = packed_ranks_->open(*process.part);
  return file.is_open() && packed::is_sound(std::move(file), process.part->place);
}

packed::PackedLocationFacts SpoolSource::packed_here(const packed::PackedLocationFacts& there,
                                                     const Process& process) {
  packed::PackedLocationFacts here = there;
  if (there.first > there.last) return here;
  here.first = ticks(process.clock.to_time(there.first));
  here.last = ticks(process.clock.to_time(there.last));
  return here;
}

packed::PartMeaning SpoolSource::part_meaning_of(const RankResult& rank_result,
                                                 const Process& process) const {
  packed::PartMeaning meaning;
  meaning.clock = process.clock.line();
  meaning.group = process.group.value();
  for (const RankResult::OfLocation& one : rank_result.locations) {
    meaning.locations.push_back({one.there, location_id(process, one.index)});
  }
  meaning.regions = ids_here(rank_result.ids.regions, process.ids.regions);
  meaning.strings = ids_here(rank_result.ids.strings, process.ids.strings);
  meaning.parameters = ids_here(rank_result.ids.parameters, process.ids.parameters);
  meaning.metrics = metrics_here(rank_result, process.ids.metrics, definitions_.metrics);
  meaning.communicators = ids_here(rank_result.ids.communicators, process.ids.communicators);
  meaning.io_handles = ids_here(rank_result.ids.io_handles, process.ids.io_handles);
  return meaning;
}

std::vector<packed::TakenPart> SpoolSource::taken_parts() const {
  std::vector<packed::TakenPart> result;
  for (const Process& process : processes_) {
    if (process.blocks.empty()) continue;
    packed::TakenPart part;
    part.number = process.part->place.number();
    part.at = process.part->place.blocks_at;
    part.size = process.part->place.blocks_size;
    part.locations = process.blocks;
    part.meaning = [this, &process] {
      const std::optional<RankResult> rank_result = packed_result_of(process);
      if (!rank_result || !fits(*rank_result, process)) {
        throw Error(process.directory.path() +
                    " has changed while it was woven; weave again [TL217]");
      }
      return part_meaning_of(*rank_result, process);
    };
    part.open = [this, &process] { return packed_ranks_->open(*process.part); };
    result.push_back(std::move(part));
  }
  return result;
}

// Where their blocks are not taken as they are, as for an OTF2 trace.
void SpoolSource::add_parts_without_logs() {
  for (Process& process : processes_) {
    if (process.has_log || process.is_converted()) continue;
    std::optional<RankResult> rank_result = packed_result_of(process);
    if (!rank_result || !fits(*rank_result, process)) {
      ++damaged_segments_;     // all of its events are lost
      process.has_log = true;  // without a segment
      continue;
    }
    add_counts(*rank_result, process);
    process.meaning =
        std::make_shared<const packed::PartMeaning>(part_meaning_of(*rank_result, process));
    for (RankResult::OfLocation& one : rank_result->locations) {
      one.aggregated = {};
      process.packed_locations.push_back(std::move(one));
    }
  }
}

void SpoolSource::add_tasks_of_part(const Process& process) {
  for (std::uint32_t i = 0; i < process.packed_locations.size(); ++i) {
    const std::uint64_t events = process.packed_locations[i].packed.counts.packed;
    tasks_.push_back({&process, i, events * sizeof(std::uint64_t)});
  }
}

void SpoolSource::replay_part(const Task& task, std::span<RunSink* const> sinks) {
  const Process& process = *task.process;
  const RankResult::OfLocation& of = process.packed_locations[task.index];
  const auto where = std::ranges::lower_bound(definitions_.locations,
                                              location_id(process, of.index), {}, &Location::id);
  std::vector<std::unique_ptr<LocationSink>> open;
  for (RunSink* sink : sinks) open.push_back(sink->open_location(*where));
  damaged_segments_ +=
      packed::replay_part(packed_ranks_->open(*process.part), process.part->place, of.there,
                          of.packed.counts, *process.meaning, definitions_, open);
  for (const auto& sink : open) sink->finish();
}

}  // namespace timeloom::weave
