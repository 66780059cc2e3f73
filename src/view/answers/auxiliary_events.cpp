#include "view/answers/auxiliary_events.hpp"

#include <algorithm>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "core/parallel.hpp"
#include "core/wakeups.hpp"
#include "view/answers/viewed_messages.hpp"
#include "view/index/cursor.hpp"

namespace timeloom::view {

namespace {

constexpr std::size_t kFewStretches = 256;  // values of so few are read from the blocks

double value_of(const Event& event, const Definitions& definitions) {
  switch (definitions.metrics[event.ref].type) {
    case MetricValueType::kInt64: return static_cast<double>(event.as_int());
    case MetricValueType::kUint64: return static_cast<double>(event.value);
    case MetricValueType::kDouble: break;
  }
  return event.as_double();
}

bool is_value(const Event& event, const Definitions& definitions) {
  return event.kind == EventKind::kMetric && event.ref < definitions.metrics.size();
}

}  // namespace

struct AuxiliaryEvents::Sought {
  const Definitions& definitions;
  GpuLaunches launches{definitions};
  GpuStartFinder starts{definitions};
  profile::TaskParameters of_tasks{definitions};
};

struct AuxiliaryEvents::Found {
  std::vector<GpuStart> starts;
  bool all_starts = true;
  std::map<Key, Series> series;
  std::vector<Happening> creates, begins, ends, waits, wakes, woken, calls, works;
  profile::FollowedTasks tasks;

  void add(const GpuStart& start) {
    all_starts = starts.size() < kMostStarts;
    if (all_starts) starts.push_back(start);
  }

  // Null: the event is not one of these kinds.
  std::vector<Happening>* list_of(const Event& event, const Definitions& definitions) {
    switch (event.kind) {
      case EventKind::kThreadCreate: return &creates;
      case EventKind::kThreadBegin: return &begins;
      case EventKind::kThreadEnd: return &ends;
      case EventKind::kThreadWait: return &waits;
      default: break;
    }
    switch (wakeup_end_of(event, definitions)) {
      case WakeupEnd::kWakes: return &wakes;
      case WakeupEnd::kWoken: return &woken;
      case WakeupEnd::kNone: break;
    }
    return nullptr;
  }
};

AuxiliaryEvents::AuxiliaryEvents(const Index& index, const Definitions& definitions)
    : message_ends_(std::min(index.tracks().size(), definitions.locations.size())) {
  const Sought sought{definitions};
  for_each_in_parallel(index.tracks().size(), std::max(1u, std::thread::hardware_concurrency()),
                       [&](std::size_t i) {
                         const auto number = static_cast<std::uint32_t>(i);
                         if (index.tracks()[i].block_count == 0) return;
                         read(*index.track(number), number, sought);
                       });
  connect(Link::Kind::kCreates, creates_, begins_);
  connect(Link::Kind::kAwaited, ends_, waits_);
  connect(Link::Kind::kWakes, wakes_, woken_);
  connect(Link::Kind::kLaunches, calls_, works_);
  connect_tasks(definitions.clock);
  std::ranges::sort(links_, [](const Link& a, const Link& b) {
    return std::tie(a.to, a.to_track, a.from, a.from_track) <
           std::tie(b.to, b.to_track, b.from, b.from_track);
  });
  for (auto* list : {&creates_, &begins_, &ends_, &waits_, &wakes_, &woken_, &calls_, &works_})
    *list = {};
  tasks_ = {};
}

void AuxiliaryEvents::connect_tasks(const ClockProperties& clock) {
  const profile::TaskArrows arrows = profile::arrows_between(tasks_, profile::tolerance_of(clock));
  complete_ = complete_ && arrows.complete;
  for (const auto& [made, taken] : arrows.arrows) {
    if (links_.size() == kMostLinks) return void(complete_ = false);
    const profile::FollowedTask &from = tasks_.tasks[made], &to = tasks_.tasks[taken];
    links_.push_back({Link::Kind::kTakes, static_cast<std::uint32_t>(from.track),
                      static_cast<std::uint32_t>(to.track), from.end, to.begin});
  }
}

void AuxiliaryEvents::connect(Link::Kind kind, const std::vector<Happening>& from,
                              const std::vector<Happening>& to) {
  // A number may be awaited more than once, but starts and ends once; a call may start several
  // works.
  const bool many_to = kind == Link::Kind::kAwaited || kind == Link::Kind::kLaunches;
  std::unordered_map<std::uint64_t, Happening> known;
  for (const Happening& one : many_to ? from : to) known.try_emplace(one.number, one);
  for (const Happening& one : many_to ? to : from) {
    const auto found = known.find(one.number);
    if (found == known.end()) continue;
    if (links_.size() == kMostLinks) return void(complete_ = false);
    const Happening& begin = many_to ? found->second : one;
    const Happening& end = many_to ? one : found->second;
    links_.push_back({kind, begin.track, end.track, begin.time, end.time});
  }
}

void AuxiliaryEvents::read(const Track& track, std::uint32_t number, const Sought& sought) {
  const auto& [definitions, launches, starts, of_tasks] = sought;
  Found found;
  profile::TaskFollower tasks(of_tasks, number);
  const LocationGroupId process = number < definitions.locations.size()
                                      ? definitions.locations[number].group
                                      : LocationGroupId{};
  std::size_t happened = 0;
  for (Cursor cursor(track, 0); cursor.next_of_track();) {
    if (of_tasks.any() && cursor.token() == Token::kEnter) tasks.enter(cursor.time());
    if (of_tasks.any() && cursor.token() == Token::kLeave) tasks.leave(cursor.time());
    if (cursor.token() != Token::kOther) continue;
    const Event& event = cursor.other();
    if (of_tasks.any()) tasks.parameter(event);
    if (is_end_of_message(event.kind)) {
      if (number < message_ends_.size()) ++message_ends_[number];
      continue;
    }
    if (is_value(event, definitions)) {
      found.series[{number, event.ref}].add(cursor.time(), value_of(event, definitions));
      if (cursor.open().empty()) continue;
      if (const auto start = starts.start_at(cursor, track, number)) found.add(*start);
      const auto end = launches.end_of(event, cursor.time(), cursor.open().back().begin, process);
      if (end && ++happened <= kMostLinks) {
        (end->is_work ? found.works : found.calls).push_back({end->number, cursor.time(), number});
      }
      continue;
    }
    std::vector<Happening>* list = found.list_of(event, definitions);
    if (list != nullptr && ++happened <= kMostLinks) {
      list->push_back({event.value, cursor.time(), number});
    }
  }
  found.tasks = tasks.take();
  join(found);
}

void AuxiliaryEvents::join(Found& found) {
  const std::lock_guard lock(mutex_);
  series_.insert(found.series.begin(), found.series.end());
  while (series_.size() > kMostSeries) {
    series_.erase(std::prev(series_.end()));
    complete_ = false;
  }
  const auto add = [&](std::vector<Happening>& to, const std::vector<Happening>& from) {
    const std::size_t room = kMostLinks - std::min(to.size(), kMostLinks);
    if (from.size() > room) complete_ = false;
    to.insert(to.end(), from.begin(),
              from.begin() + static_cast<std::ptrdiff_t>(std::min(from.size(), room)));
  };
  const std::size_t room = kMostStarts - gpu_starts_.size();
  if (found.starts.size() > room) found.starts.resize(room), found.all_starts = false;
  gpu_starts_.insert(gpu_starts_.end(), found.starts.begin(), found.starts.end());
  all_gpu_starts_ = all_gpu_starts_ && found.all_starts;
  add(creates_, found.creates);
  add(begins_, found.begins);
  add(ends_, found.ends);
  add(waits_, found.waits);
  add(wakes_, found.wakes);
  add(woken_, found.woken);
  add(calls_, found.calls);
  add(works_, found.works);
  tasks_.add(std::move(found.tasks));
}

namespace {

// A stretch of a track whose values are read one by one.
struct Near {
  std::size_t question = 0;
  AuxiliaryEvents::Key key;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Series values;
};

// Reads the values of overlapping stretches of one track.
void read_near(const Index& index, const Definitions& definitions, std::span<Near> stretches) {
  const auto track = index.track(stretches.front().key.first);
  const std::uint64_t end = std::ranges::max(stretches, {}, &Near::end).end;
  Cursor cursor(*track, track->block_before(stretches.front().begin));
  while (cursor.next_of_track() && cursor.time() <= end) {
    if (cursor.token() != Token::kOther || !is_value(cursor.other(), definitions)) continue;
    for (Near& one : stretches) {
      const bool inside = cursor.time() >= one.begin && cursor.time() <= one.end;
      if (cursor.other().ref != one.key.second || !inside) continue;
      one.values.add(cursor.time(), value_of(cursor.other(), definitions));
    }
  }
}

// Groups overlapping stretches of a track; in each group, the first one starts first.
std::vector<std::span<Near>> overlapping(std::vector<Near>& stretches) {
  std::ranges::sort(stretches, [](const Near& a, const Near& b) {
    return std::tie(a.key.first, a.begin) < std::tie(b.key.first, b.begin);
  });
  std::vector<std::span<Near>> groups;
  std::uint64_t end = 0;
  for (Near& one : stretches) {
    const bool alone =
        groups.empty() || groups.back().data()->key.first != one.key.first || one.begin > end;
    if (alone) groups.emplace_back(&one, 0);
    groups.back() = std::span(groups.back().data(), groups.back().size() + 1);
    end = alone ? one.end : std::max(end, one.end);
  }
  return groups;
}

}  // namespace

std::vector<std::vector<Stretch>> values_in(const Index& index, const AuxiliaryEvents& events,
                                            const Definitions& definitions,
                                            std::span<const ValuesQuestion> questions) {
  std::vector<std::vector<Stretch>> found(questions.size());
  std::vector<Near> near;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const ValuesQuestion& one = questions[i];
    const auto series = events.series().find(one.key);
    if (series == events.series().end()) continue;
    found[i] = series->second.in(one.from, one.to);
    if (series->second.has_each() || found[i].empty() || found[i].size() > kFewStretches) continue;
    near.push_back({i, one.key, found[i].front().begin, found[i].back().end, {}});
  }
  const std::vector<std::span<Near>> groups = overlapping(near);
  const unsigned threads = std::min(4u, std::max(1u, std::thread::hardware_concurrency()));
  for_each_in_parallel(groups.size(), threads,
                       [&](std::size_t i) { read_near(index, definitions, groups[i]); });
  for (const Near& one : near) {
    const ValuesQuestion& question = questions[one.question];
    found[one.question] = one.values.in(question.from, question.to);
  }
  return found;
}

}  // namespace timeloom::view
