#include "weave/spool_source.hpp"

#include <algorithm>
#include <exception>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace timeloom::weave {
namespace {

constexpr char kCreator[] = "Timeloom " TIMELOOM_VERSION;

LocationId location_id(std::uint32_t index, std::size_t rank) {
  return LocationId{(std::uint64_t{index} << 32) | rank};
}

}  // namespace

SpoolSource::SpoolSource(const std::vector<std::string>& directories) {
  definitions_.creator = kCreator;
  Unifier unifier(definitions_);
  std::exception_ptr failure;
  for (const std::string& directory : directories) {
    try {
      add_process(directory, unifier);
    } catch (const Error&) {
      // Killed before it had written the first bytes, or beyond repair.
      if (!failure) failure = std::current_exception();
      ++unreadable_spools_;
    }
  }
  if (processes_.empty() && failure) std::rethrow_exception(failure);
  if (processes_.empty()) throw Error("the run holds no spool to weave");
  lend_clocks();
  set_clock();
  add_locations();
  add_tasks();
  add_properties();
}

void SpoolSource::add_process(const std::string& directory, Unifier& unifier) {
  auto reader = spool::Reader::open(directory);
  const spool::ProcessDefinitions& from = reader->definitions();
  Process process{nullptr,
                  unifier.add(from, reader->complete()),
                  {from.clock_source, from.clock_syncs},
                  false,
                  {},
                  {}};
  ended_ = ended_ && from.ended;
  lost_events_ += from.lost_events;
  damaged_segments_ += reader->damage().segments + reader->damage().missing_segments;
  definitions_.groups.push_back(from.process);
  if (from.process.name.empty()) definitions_.groups.back().name = "Process";
  for (const auto& [key, value] : from.properties) definitions_.properties.try_emplace(key, value);
  process.reader = std::move(reader);
  processes_.push_back(std::move(process));
}

// A process that lost its comparisons of clocks counted as the others did.
void SpoolSource::lend_clocks() {
  const auto definitions = [](const Process& process) -> const spool::ProcessDefinitions& {
    return process.reader->definitions();
  };
  for (Process& process : processes_) {
    if (!definitions(process).clock_syncs.empty()) continue;
    const auto lender = std::ranges::find_if(processes_, [&](const Process& other) {
      return !definitions(other).clock_syncs.empty() &&
             definitions(other).clock_source == definitions(process).clock_source &&
             definitions(other).process.hostname == definitions(process).process.hostname;
    });
    if (lender != processes_.end()) process.clock = lender->clock;
  }
}

// In good order that is from the first comparison of clocks to the last. Where
// comparisons were lost, there are events before and markers beyond them.
void SpoolSource::set_lifetime(Process& process) {
  const spool::ProcessDefinitions& from = process.reader->definitions();
  std::vector<std::uint64_t> known;
  for (const os::ClockSync& sync : from.clock_syncs) known.push_back(sync.ticks);
  for (const auto& mark : from.markers) known.push_back(mark.ticks);
  if (const auto first = process.reader->first_ticks()) known.push_back(*first);
  if (known.empty()) return;
  const auto [first, last] = std::minmax_element(known.begin(), known.end());
  process.timed = true;
  process.begin = process.clock.to_time(*first);
  process.end = process.clock.to_time(*last);
}

// The time of the run is that of all its processes. One of which no time is
// known, because it was killed too early, gets the begin of the run.
void SpoolSource::set_clock() {
  ClockProperties& clock = definitions_.clock;
  clock.begin = UINT64_MAX;
  std::uint64_t end = 0;
  for (Process& process : processes_) {
    set_lifetime(process);
    if (!process.timed) continue;
    clock.begin = std::min(clock.begin, ticks(process.begin));
    end = std::max(end, ticks(process.end));
  }
  if (clock.begin == UINT64_MAX) clock.begin = 0;
  clock.length = end - std::min(end, clock.begin);
  for (Process& process : processes_) {
    if (!process.timed) process.begin = process.end = Timestamp{clock.begin};
    const auto& syncs = process.reader->definitions().clock_syncs;
    if (clock.realtime || syncs.empty()) continue;
    const std::uint64_t since = ticks(process.clock.to_time(syncs.front().ticks)) - clock.begin;
    clock.realtime = syncs.front().realtime_ns - std::min(since, syncs.front().realtime_ns);
  }
}

void SpoolSource::add_location(const Process& process, std::uint32_t index, std::size_t rank) {
  const auto& threads = process.reader->definitions().threads;
  Location location;
  location.id = location_id(index, rank);
  location.group = LocationGroupId{static_cast<std::uint32_t>(rank)};
  location.name = "Thread " + std::to_string(index);
  if (const auto thread = threads.find(index); thread != threads.end()) {
    location.name = thread->second.name;
    location.thread_id = thread->second.thread_id;
  }
  definitions_.locations.push_back(std::move(location));
}

void SpoolSource::add_markers(const Process& process, std::size_t rank) {
  const auto indices = process.reader->locations();
  for (const auto& mark : process.reader->definitions().markers) {
    if (!std::binary_search(indices.begin(), indices.end(), mark.thread)) {
      ++dropped_events_;  // its thread is not known
      continue;
    }
    definitions_.markers.push_back({std::max(process.clock.to_time(mark.ticks), process.begin),
                                    location_id(mark.thread, rank), mark.text});
  }
}

void SpoolSource::add_locations() {
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
    const Process& process = processes_[rank];
    std::vector<std::uint32_t> indices = process.reader->locations();
    // Killed before it defined a thread: a trace without locations is none to its readers.
    if (indices.empty()) indices.push_back(0);
    for (const std::uint32_t index : indices) add_location(process, index, rank);
    add_markers(process, rank);
  }
  std::stable_sort(definitions_.locations.begin(), definitions_.locations.end(),
                   [](const Location& a, const Location& b) { return a.id < b.id; });
  std::stable_sort(definitions_.markers.begin(), definitions_.markers.end(),
                   [](const Marker& a, const Marker& b) { return a.time < b.time; });
}

void SpoolSource::add_tasks() {
  for (std::size_t i = 0; i < definitions_.locations.size(); ++i) {
    const Location& location = definitions_.locations[i];
    const Process& process = processes_[location.group.value()];
    const auto index = static_cast<std::uint32_t>(location.id.value() >> 32);
    tasks_.push_back({&process, index, i, process.reader->bytes(index)});
    total_bytes_ += tasks_.back().bytes;
  }
  // The largest first, so that no thread is left with it at the end.
  std::stable_sort(tasks_.begin(), tasks_.end(),
                   [](const Task& a, const Task& b) { return a.bytes > b.bytes; });
}

// What was lost or cut off goes into the trace, under names of our own.
void SpoolSource::add_properties() {
  std::uint64_t bad_definitions = 0;
  for (const Process& process : processes_) bad_definitions += process.reader->damage().definitions;
  const auto put = [this](const char* key, std::uint64_t value) {
    if (value != 0) definitions_.properties[key] = std::to_string(value);
  };
  put("timeloom::lost_events", lost_events_);
  put("timeloom::damaged_definitions", bad_definitions);
  put("timeloom::damaged_segments", damaged_segments_);
  put("timeloom::dropped_events", dropped_events_);
  put("timeloom::unreadable_spools", unreadable_spools_);
  if (!ended_) {
    definitions_.properties["timeloom::ending"] = "ended before the measurement could be finished";
    put("timeloom::closed_regions", closed_regions_);
  }
}

double SpoolSource::progress() const noexcept {
  return total_bytes_ == 0 ? 1.0
                           : static_cast<double>(done_bytes_) / static_cast<double>(total_bytes_);
}

void SpoolSource::feed_location(const Task& task, std::span<RunSink* const> sinks) {
  const Location& location = definitions_.locations[task.location];
  const Process& process = *task.process;
  std::vector<std::unique_ptr<LocationSink>> outputs;
  for (RunSink* sink : sinks) outputs.push_back(sink->open_location(location));
  std::uint64_t count = 0;
  const auto hand_on = [&](std::span<const Event> events) {
    count += events.size();
    if (events.empty()) return;
    for (const auto& output : outputs) output->consume(events);
  };

  const bool main = task.index == 0;
  if (main) {
    const Event begin{process.begin, EventKind::kProgramBegin, location.group.value(), 0};
    hand_on({&begin, 1});
  }
  Stream stream(process.ids, process.clock, process.begin);
  spool::LocationReader reader = process.reader->read(task.index);
  std::vector<Event> batch;
  while (reader.next(batch)) {
    const std::uint64_t bytes = batch.size() * sizeof(std::uint64_t);
    stream.translate(batch);
    hand_on(batch);
    done_bytes_ += bytes;
  }
  stream.close(process.end, batch);
  hand_on(batch);
  if (main) {
    const Timestamp end = std::max({stream.last_time(), process.begin, process.end});
    const Event event{end, EventKind::kProgramEnd, location.group.value(),
                      static_cast<std::uint64_t>(kUnknownExitStatus)};
    hand_on({&event, 1});
  }
  for (const auto& output : outputs) output->finish();
  events_ += count;
  closed_regions_ += stream.closed_regions();
  dropped_events_ += stream.dropped_events();
  damaged_segments_ += reader.damaged_segments();
}

void SpoolSource::feed(std::span<RunSink* const> sinks, unsigned threads) {
  for (RunSink* sink : sinks) sink->begin(definitions_);
  for_each_in_parallel(tasks_.size(), threads,
                       [&](std::size_t i) { feed_location(tasks_[i], sinks); });
  add_properties();
  for (RunSink* sink : sinks) sink->finish();
}

}  // namespace timeloom::weave
