#include "weave/spool_source.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "core/error.hpp"

namespace timeloom::weave {
namespace {

constexpr char kCreator[] = "Timeloom " TIMELOOM_VERSION;

std::uint64_t ns(Timestamp time) { return static_cast<std::uint64_t>(time); }

}  // namespace

SpoolSource::SpoolSource(const std::vector<std::string>& directories) {
  definitions_.creator = kCreator;
  definitions_.clock.begin = UINT64_MAX;
  Unifier unifier(definitions_);
  for (const std::string& directory : directories) add_process(directory, unifier);
  if (processes_.empty()) throw Error("the run holds no spool to weave");
  add_locations();
  add_properties();
}

void SpoolSource::add_process(const std::string& directory, Unifier& unifier) {
  auto reader = spool::Reader::open(directory);
  const spool::ProcessDefinitions& from = reader->definitions();
  const bool complete = from.ended && reader->damage().definitions == 0;
  Process process{nullptr, unifier.add(from, complete), {from.clock_source, from.clock_syncs}, {}, {}};
  if (!from.clock_syncs.empty()) {
    const os::ClockSync& first = from.clock_syncs.front();
    process.begin = Timestamp{first.monotonic_ns};
    if (from.ended) process.end = Timestamp{from.clock_syncs.back().monotonic_ns};
    if (first.monotonic_ns < definitions_.clock.begin) {
      definitions_.clock.begin = first.monotonic_ns;
      definitions_.clock.realtime = first.realtime_ns;
    }
  }
  const std::uint64_t last = std::max(ns(process.begin), ns(process.end));
  const std::uint64_t end = definitions_.clock.begin + definitions_.clock.length;
  if (last > end) definitions_.clock.length = last - definitions_.clock.begin;
  ended_ = ended_ && from.ended;
  lost_events_ += from.lost_events;
  damaged_segments_ += reader->damage().segments + reader->damage().missing_segments;
  definitions_.groups.push_back(from.process);
  for (const auto& [key, value] : from.properties) definitions_.properties.try_emplace(key, value);
  process.reader = std::move(reader);
  processes_.push_back(std::move(process));
}

void SpoolSource::add_locations() {
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
    const Process& process = processes_[rank];
    const spool::ProcessDefinitions& from = process.reader->definitions();
    for (const std::uint32_t index : process.reader->locations()) {
      Location location;
      location.id = LocationId{(std::uint64_t{index} << 32) | rank};
      location.group = LocationGroupId{static_cast<std::uint32_t>(rank)};
      const auto thread = from.threads.find(index);
      if (thread != from.threads.end()) {
        location.name = thread->second.name;
        location.thread_id = thread->second.thread_id;
      } else {
        location.name = "Thread " + std::to_string(index);
      }
      const std::uint64_t bytes = process.reader->bytes(index);
      tasks_.push_back({&process, index, definitions_.locations.size(), bytes});
      total_bytes_ += bytes;
      definitions_.locations.push_back(std::move(location));
    }
    for (const auto& mark : from.markers) {
      definitions_.markers.push_back({process.clock.to_time(mark.ticks),
                                      LocationId{(std::uint64_t{mark.thread} << 32) | rank},
                                      mark.text});
    }
  }
  std::stable_sort(definitions_.markers.begin(), definitions_.markers.end(),
                   [](const Marker& a, const Marker& b) { return a.time < b.time; });
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
  Stream stream(process.ids, process.clock);
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
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < tasks_.size(); i = next++) feed_location(tasks_[i], sinks);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = tasks_.size();
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < threads && i < tasks_.size(); ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
  add_properties();
  for (RunSink* sink : sinks) sink->finish();
}

}  // namespace timeloom::weave
