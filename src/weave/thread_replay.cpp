#include "weave/thread_replay.hpp"

#include <algorithm>
#include <utility>

namespace timeloom::weave {
namespace {

// Limit: a sink of the trace holds a chunk of 4 MiB, and there are as many replays as cores.
constexpr std::size_t kMostFed = 6;
constexpr std::size_t kMostWaiting = (16 << 20) / sizeof(Event);

bool is_switch(const Event& event) noexcept {
  return event.kind == EventKind::kTrack || event.kind == EventKind::kTrackEnd;
}

}  // namespace

LocationId location_id(const WovenProcess& process, std::uint32_t index) noexcept {
  const auto found = std::ranges::lower_bound(process.locations, index);
  if (found == process.locations.end() || *found != index) return {};
  if (!process.first_location.defined()) {
    return LocationId{(std::uint64_t{index} << 32) | process.group.value()};
  }
  const auto place = static_cast<std::uint64_t>(found - process.locations.begin());
  return LocationId{process.first_location.value() + place};
}

void ThreadReplay::run(const std::function<void(std::uint64_t)>& done) {
  open(thread_, *location_of(thread_));
  open_sinks(open_.at(thread_));
  // Holds the files for all readings, so that a run that is still recording drops none of them
  // between two.
  const spool::LocationReader held = process_.reader->read(thread_);
  read_once(done);
  while (!postponed_.empty()) read_once([](std::uint64_t) {});
}

void ThreadReplay::read_once(const std::function<void(std::uint64_t)>& done) {
  first_ = done_.empty();
  postponed_.clear();
  current_ = thread_;
  last_ticks_ = 0;
  if (process_.gpu) {
    gpu_calls_ = process_.gpu->pending_calls(thread_);
    gpu_idle_ = process_.gpu->pending_idle(thread_);
  }
  causes_ = {process_.waits, thread_, process_.clock.line()};
  spool::LocationReader reader = process_.reader->read(thread_);
  SampledCalls sampled(process_.samples, process_.reader->definitions(), process_.clock, thread_);
  std::vector<Event> batch;
  while (reader.next(batch)) {
    const std::uint64_t bytes = batch.size() * sizeof(std::uint64_t);
    sampled.merge(batch);
    replay(batch);
    done(bytes);
  }
  batch = sampled.rest();
  replay(batch);
  if (!first_) gpu_calls_ = {};  // the rest belongs to the thread itself, which was replayed first
  close_all();
  if (!first_) return;
  damaged_ += reader.damaged_segments();
  older_ += reader.dropped_events();
}

void ThreadReplay::replay(std::vector<Event>& batch) {
  causes_.divide(batch);
  if (!batch.empty()) last_ticks_ = std::max(last_ticks_, ticks(batch.back().time));
  auto next = std::find_if(batch.begin(), batch.end(), is_switch);
  if (next == batch.end()) return replay_part(current_, batch);  // nearly always
  for (auto begin = batch.begin();;) {
    part_.assign(begin, next);
    replay_part(current_, part_);
    if (next == batch.end()) return;
    if (next->kind == EventKind::kTrack) {
      current_ = next->ref;
    } else if (current_ != thread_) {
      close(current_, process_.clock.to_time(ticks(next->time)), true);
    }
    begin = next + 1;
    next = std::find_if(begin, batch.end(), is_switch);
  }
}

void ThreadReplay::replay_part(std::uint32_t index, std::vector<Event>& events) {
  if (events.empty()) return;
  Output* output = output_of(index);
  if (output == nullptr) {
    if (first_ && location_of(index) == nullptr) dropped_ += events.size();
    // Its GPU calls would be put into functions of the next location.
    return drop_gpu(process_.clock.to_time(ticks(events.back().time)));
  }
  output->translator.translate(events);
  output->gpu.merge(gpu_calls_, events);
  add_gpu_idle(*output, events);
  pass_to_sinks(*output, events);
  if (waiting_ > kMostWaiting) make_room();
}

void ThreadReplay::add_gpu_idle(Output& output, std::vector<Event>& events) {
  if (process_.gpu) output.gpu_idle.add(gpu_idle_, process_.gpu->idle_ids(), events);
}

void ThreadReplay::drop_gpu(Timestamp until) {
  gpu_calls_.drop(until);
  (void)gpu_idle_.pass(until);
}

// nullptr: the events of this location are not wanted now.
ThreadReplay::Output* ThreadReplay::output_of(std::uint32_t index) {
  if (const auto found = open_.find(index); found != open_.end()) return &found->second;
  if (done_.contains(index) || postponed_.contains(index)) return nullptr;
  const Location* location = location_of(index);
  if (location == nullptr) return nullptr;  // counted by replay_part()
  open(index, *location);
  return &open_.at(index);
}

void ThreadReplay::open(std::uint32_t index, const Location& location) {
  Output& output = open_.try_emplace(index, process_, location, teams_).first->second;
  if (index == 0) {
    const Event begin{process_.begin, EventKind::kProgramBegin, location.group.value(), 0};
    pass_to_sinks(output, {&begin, 1});
  }
  const auto* life = known(index);
  if (life == nullptr || life->number == 0) return;
  std::vector<Event> begin{{Timestamp{life->begin}, EventKind::kThreadBegin, 0, life->number}};
  output.translator.translate(begin);
  pass_to_sinks(output, begin);
}

// `end`: of the open regions. `ended`: true if the location ended then, false if nothing later is
// known of it.
void ThreadReplay::close(std::uint32_t index, Timestamp end, bool ended) {
  const Timestamp calls_until = index == thread_ ? Timestamp{UINT64_MAX}
                                : ended          ? end
                                                 : Timestamp{};
  const auto found = open_.find(index);
  if (found == open_.end()) return drop_gpu(calls_until);
  Output& output = found->second;
  const auto* life = known(index);
  Timestamp life_end = end;
  if (life != nullptr && life->last != 0) {
    life_end = process_.clock.to_time(life->last);
    ended = true;
  }
  std::vector<Event> rest;
  const Timestamp open_until = std::min(end, life_end);
  const auto gap = ended ? std::nullopt : gap_before(index, open_until);
  output.translator.close(open_until, gap, rest);
  if (gap) causes_.divide_last(rest, ticks_seen());
  output.gpu.merge(gpu_calls_, rest);
  output.gpu.close(gpu_calls_, calls_until, rest);
  add_gpu_idle(output, rest);
  const Timestamp last =
      std::max({output.translator.last_time(), output.gpu.last_time(), process_.begin, life_end});
  if (ended && life != nullptr && life->number != 0) {
    rest.push_back({last, EventKind::kThreadEnd, 0, process_.ids.threads.in_run(life->number)});
  }
  if (index == 0) {
    rest.push_back({std::max(last, process_.end), EventKind::kProgramEnd, process_.group.value(),
                    static_cast<std::uint64_t>(kUnknownExitStatus)});
  }
  open_sinks(output);
  pass_to_sinks(output, rest);
  for (const auto& sink : output.sinks) sink->finish();
  --fed_;
  closed_ += output.translator.closed_regions();
  dropped_ += output.translator.dropped_events();
  older_ += output.translator.older_events();
  unnamed_ += output.translator.unnamed_visits();
  tasks_ += output.translator.tasks();
  kept_rewinds_ += output.translator.kept_rewinds();
  open_.erase(found);
  done_.insert(index);
}

void ThreadReplay::close_all() {
  while (!open_.empty()) {
    const auto& [index, output] = *open_.begin();
    close(index, end_of(output.translator.last_time()), false);
  }
}

// Open regions are closed at the end of the process, or where the limit of the run ended their
// recording. Events follow where recording could continue later.
Timestamp ThreadReplay::end_of(Timestamp last) const {
  const auto& cuts = process_.reader->definitions().cuts;
  const auto cut = cuts.find(thread_);
  if (cut == cuts.end()) return process_.end;
  const Timestamp time = process_.clock.to_time(cut->second);
  return time < last ? process_.end : time;
}

// The time after the thread's last event belongs to the location that was active.
std::optional<LastGap> ThreadReplay::gap_before(std::uint32_t index, Timestamp end) const {
  if (index != current_) return {};
  return last_gap(process_.reader->last_clocks(thread_), last_ticks_, process_.clock, end);
}

// Ticks up to which the gap behind the last event was measured.
std::uint64_t ThreadReplay::ticks_seen() const {
  return process_.reader->last_clocks(thread_).seen.ticks;
}

// Of the tracks whose events wait, the one with the most events is fed from now on. It waits for
// another reading where the limit of fed tracks is reached.
void ThreadReplay::make_room() {
  const auto most = std::ranges::max_element(
      open_, {}, [](const auto& one) { return one.second.waiting.size(); });
  Output& output = most->second;
  if (fed_ < kMostFed) return open_sinks(output);
  waiting_ -= output.waiting.size();
  postponed_.insert(most->first);
  open_.erase(most);
}

void ThreadReplay::open_sinks(Output& output) {
  if (!output.sinks.empty()) return;
  ++fed_;
  for (RunSink* sink : sinks_) output.sinks.push_back(sink->open_location(output.location));
  waiting_ -= output.waiting.size();
  pass_to_sinks(output, std::exchange(output.waiting, {}));
}

void ThreadReplay::pass_to_sinks(Output& output, std::span<const Event> events) {
  if (events.empty()) return;
  if (output.sinks.empty()) {
    output.waiting.insert(output.waiting.end(), events.begin(), events.end());
    waiting_ += events.size();
    return;
  }
  events_ += events.size() -
             static_cast<std::size_t>(std::ranges::count_if(events, is_no_event, &Event::kind));
  for (const auto& sink : output.sinks) sink->consume(events);
}

const Location* ThreadReplay::location_of(std::uint32_t index) const {
  const LocationId id = location_id(process_, index);
  const auto found =
      std::lower_bound(locations_.begin(), locations_.end(), id,
                       [](const Location& one, LocationId wanted) { return one.id < wanted; });
  return found != locations_.end() && found->id == id ? &*found : nullptr;
}

const spool::ProcessDefinitions::Thread* ThreadReplay::known(std::uint32_t index) const {
  const auto& threads = process_.reader->definitions().threads;
  const auto found = threads.find(index);
  return found == threads.end() ? nullptr : &found->second;
}

}  // namespace timeloom::weave
