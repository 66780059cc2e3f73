#include "view/side_events.hpp"

#include <algorithm>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "core/parallel.hpp"
#include "core/wakes.hpp"
#include "view/cursor.hpp"
#include "view/messages.hpp"

namespace timeloom::view {

namespace {

constexpr std::size_t kFewStretches = 256;  // whose values are read from the blocks

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

struct SideEvents::Found {
  std::map<Key, Series> series;
  std::vector<Happening> creates, begins, ends, waits, wakes, woken;

  // Null: the event is none of these.
  std::vector<Happening>* list_of(const Event& event, const Definitions& definitions) {
    switch (event.kind) {
      case EventKind::kThreadCreate: return &creates;
      case EventKind::kThreadBegin: return &begins;
      case EventKind::kThreadEnd: return &ends;
      case EventKind::kThreadWait: return &waits;
      default: break;
    }
    switch (wake_end_of(event, definitions)) {
      case WakeEnd::kWakes: return &wakes;
      case WakeEnd::kWoken: return &woken;
      case WakeEnd::kNone: break;
    }
    return nullptr;
  }
};

SideEvents::SideEvents(const Index& index, const Definitions& definitions)
    : message_ends_(std::min(index.tracks().size(), definitions.locations.size())) {
  for_each_in_parallel(index.tracks().size(), std::max(1u, std::thread::hardware_concurrency()),
                       [&](std::size_t i) {
                         const auto number = static_cast<std::uint32_t>(i);
                         if (index.tracks()[i].block_count == 0) return;
                         read(*index.track(number), number, definitions);
                       });
  connect(Link::Kind::kCreates, creates_, begins_);
  connect(Link::Kind::kAwaited, ends_, waits_);
  connect(Link::Kind::kWakes, wakes_, woken_);
  std::ranges::sort(links_, [](const Link& a, const Link& b) {
    return std::tie(a.to, a.to_track, a.from, a.from_track) <
           std::tie(b.to, b.to_track, b.from, b.from_track);
  });
  for (auto* list : {&creates_, &begins_, &ends_, &waits_, &wakes_, &woken_}) *list = {};
}

void SideEvents::connect(Link::Kind kind, const std::vector<Happening>& from,
                         const std::vector<Happening>& to) {
  // A number may be waited for more than once, but begins and ends once.
  const bool many_to = kind == Link::Kind::kAwaited;
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

void SideEvents::read(const Track& track, std::uint32_t number, const Definitions& definitions) {
  Found found;
  std::size_t happened = 0;
  for (Cursor cursor(track, 0); cursor.next_of_track();) {
    if (cursor.token() != Token::kOther) continue;
    const Event& event = cursor.other();
    if (is_end_of_message(event.kind)) {
      if (number < message_ends_.size()) ++message_ends_[number];
      continue;
    }
    if (is_value(event, definitions)) {
      found.series[{number, event.ref}].add(cursor.time(), value_of(event, definitions));
      continue;
    }
    std::vector<Happening>* list = found.list_of(event, definitions);
    if (list != nullptr && ++happened <= kMostLinks) {
      list->push_back({event.value, cursor.time(), number});
    }
  }
  join(found);
}

void SideEvents::join(const Found& found) {
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
  add(creates_, found.creates);
  add(begins_, found.begins);
  add(ends_, found.ends);
  add(waits_, found.waits);
  add(wakes_, found.wakes);
  add(woken_, found.woken);
}

std::vector<Stretch> values_in(const Index& index, const SideEvents& events,
                               const Definitions& definitions, SideEvents::Key key,
                               std::uint64_t from, std::uint64_t to) {
  const auto series = events.series().find(key);
  if (series == events.series().end()) return {};
  std::vector<Stretch> found = series->second.in(from, to);
  if (series->second.has_each() || found.empty() || found.size() > kFewStretches) return found;
  const std::uint64_t begin = found.front().begin, end = found.back().end;
  const auto track = index.track(key.first);
  Cursor cursor(*track, track->block_before(begin));
  Series near;
  while (cursor.next_of_track() && cursor.time() <= end) {
    if (cursor.token() != Token::kOther || cursor.other().kind != EventKind::kMetric) continue;
    if (cursor.other().ref == key.second && cursor.time() >= begin) {
      near.add(cursor.time(), value_of(cursor.other(), definitions));
    }
  }
  return near.in(from, to);
}

}  // namespace timeloom::view
