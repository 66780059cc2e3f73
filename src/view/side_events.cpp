#include "view/side_events.hpp"

#include <algorithm>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "core/parallel.hpp"
#include "view/cursor.hpp"
#include "view/messages.hpp"

namespace timeloom::view {

namespace {

constexpr std::uint32_t kFewBlocks = 64;  // that are read for exact values

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

Stretch joined(const Stretch& a, const Stretch& b) {
  return {a.begin,       b.end,  std::min(a.min, b.min), std::max(a.max, b.max),
          a.sum + b.sum, b.last, a.count + b.count};
}

}  // namespace

void Series::add(std::uint64_t time, double value) {
  const Stretch one{time, time, value, value, value, value, 1};
  ++count_;
  if (!stretches_.empty() && stretches_.back().count < each_) {
    stretches_.back() = joined(stretches_.back(), one);
    return;
  }
  if (stretches_.size() == kMost) {
    for (std::size_t i = 0; i < kMost / 2; ++i) {
      stretches_[i] = joined(stretches_[2 * i], stretches_[2 * i + 1]);
    }
    stretches_.resize(kMost / 2);
    each_ *= 2;
  }
  stretches_.push_back(one);
}

std::vector<Stretch> Series::in(std::uint64_t from, std::uint64_t to) const {
  auto first = std::ranges::lower_bound(stretches_, from, {}, &Stretch::end);
  const auto last = std::ranges::upper_bound(stretches_, to, {}, &Stretch::begin);
  if (first != stretches_.begin()) --first;
  return first < last ? std::vector<Stretch>(first, last) : std::vector<Stretch>();
}

struct SideEvents::Found {
  std::map<Key, Series> series;
  std::vector<Happening> creates, begins, ends, waits;
};

SideEvents::SideEvents(const Index& index, const Definitions& definitions)
    : message_ends_(std::min(index.tracks().size(), definitions.locations.size())) {
  for_each_in_parallel(index.tracks().size(), std::max(1u, std::thread::hardware_concurrency()),
                       [&](std::size_t i) {
                         const auto number = static_cast<std::uint32_t>(i);
                         if (index.tracks()[i].block_count == 0) return;
                         read(*index.track(number), number, definitions);
                       });
  std::unordered_map<std::uint64_t, Happening> begins, ends;
  for (const Happening& one : begins_) begins.try_emplace(one.number, one);
  for (const Happening& one : ends_) ends.try_emplace(one.number, one);
  const auto link = [&](Link::Kind kind, const Happening& from, const Happening& to) {
    if (links_.size() == kMostLinks) return void(complete_ = false);
    links_.push_back({kind, from.track, to.track, from.time, to.time});
  };
  for (const Happening& one : creates_) {
    const auto found = begins.find(one.number);
    if (found != begins.end()) link(Link::Kind::kCreates, one, found->second);
  }
  for (const Happening& one : waits_) {
    const auto found = ends.find(one.number);
    if (found != ends.end()) link(Link::Kind::kAwaited, found->second, one);
  }
  std::ranges::sort(links_, [](const Link& a, const Link& b) {
    return std::tie(a.to, a.to_track, a.from, a.from_track) <
           std::tie(b.to, b.to_track, b.from, b.from_track);
  });
  for (auto* list : {&creates_, &begins_, &ends_, &waits_}) *list = {};
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
    std::vector<Happening>* list = event.kind == EventKind::kThreadCreate  ? &found.creates
                                   : event.kind == EventKind::kThreadBegin ? &found.begins
                                   : event.kind == EventKind::kThreadEnd   ? &found.ends
                                   : event.kind == EventKind::kThreadWait  ? &found.waits
                                                                           : nullptr;
    if (list != nullptr && ++happened <= kMostLinks) {
      list->push_back({event.value, cursor.time(), number});
    }
  }
  join(found);
}

void SideEvents::join(const Found& found) {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, series] : found.series) {
    if (series_.size() < kMostSeries)
      series_.emplace(key, series);
    else
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
}

std::vector<Stretch> values_in(const Index& index, const SideEvents& events,
                               const Definitions& definitions, SideEvents::Key key,
                               std::uint64_t from, std::uint64_t to) {
  const auto series = events.series().find(key);
  if (series == events.series().end()) return {};
  const bool all_there = series->second.count() == series->second.all().size();
  if (all_there) return series->second.in(from, to);
  const auto track = index.track(key.first);
  const std::uint32_t first = track->block_before(from), last = track->block_before(to);
  if (last - first > kFewBlocks) return series->second.in(from, to);
  // One more block, so that the value before is there, if it is near.
  Cursor cursor(*track, first == 0 ? 0 : first - 1);
  Series exact;
  while (cursor.next_of_track() && cursor.time() <= to) {
    if (cursor.token() != Token::kOther || cursor.other().kind != EventKind::kMetric) continue;
    if (cursor.other().ref == key.second) {
      exact.add(cursor.time(), value_of(cursor.other(), definitions));
    }
  }
  return exact.in(from, to);
}

}  // namespace timeloom::view
