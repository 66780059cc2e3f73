#include "weave/wait_causes.hpp"

#include <algorithm>
#include <numeric>

namespace timeloom::weave {
namespace {

using spool::WaitSpan;
using spool::WaitSpanKind;

// The part of a span that lies in a gap, 0 to 1. A single look has no length.
double share_inside(const WaitSpan& span, std::uint64_t from, std::uint64_t to) noexcept {
  const std::uint64_t begin = std::max(span.first, from), end = std::min(span.last, to);
  if (begin > end) return 0;
  if (span.first == span.last) return 1;
  return static_cast<double>(end - begin) / static_cast<double>(span.last - span.first);
}

bool is_look(const WaitSpan& span) noexcept {
  return span.kind() != WaitSpanKind::kProcessor && span.kind() != WaitSpanKind::kGap;
}

}  // namespace

WaitCauses::WaitCauses(const spool::WaitData& data, std::uint32_t thread, const TickLine& line)
    : line_(line), gil_from_(data.gil_from), gil_to_(data.gil_to) {
  spans_ = {std::ranges::lower_bound(data.spans, thread, {}, &WaitSpan::location),
            std::ranges::upper_bound(data.spans, thread, {}, &WaitSpan::location)};
  for (const WaitSpan& span : spans_) {
    if (span.kind() == WaitSpanKind::kProcessor) {
      delays_.push_back({span.first, span.last, span.word, false});
    }
  }
  note_looks_at_starts();
}

// Both are sorted by their start, and looks do not overlap.
void WaitCauses::note_looks_at_starts() noexcept {
  auto look = spans_.begin();
  for (Delay& delay : delays_) {
    const auto ended = [&](const WaitSpan& span) {
      return !is_look(span) || span.last < delay.first;
    };
    look = std::find_if_not(look, spans_.end(), ended);
    delay.looked = look != spans_.end() && look->first <= delay.first;
  }
}

WaitingCause WaitCauses::cause_of(const WaitSpan& span) const noexcept {
  switch (span.kind()) {
    case WaitSpanKind::kFutex: {
      const bool gil = span.word >= gil_from_ && span.word < gil_to_;
      return gil ? WaitingCause::kGil : WaitingCause::kLock;
    }
    case WaitSpanKind::kShared: return WaitingCause::kLock;
    case WaitSpanKind::kThreadEnd:
    case WaitSpanKind::kProcess: return WaitingCause::kThread;
    case WaitSpanKind::kFile:
    case WaitSpanKind::kSocket: return WaitingCause::kIo;
    case WaitSpanKind::kTime: return WaitingCause::kTime;
    case WaitSpanKind::kProcessor:
    case WaitSpanKind::kGap:
    case WaitSpanKind::kOther: break;
  }
  return WaitingCause::kUnknown;
}

// The kernel counts a time without a processor when it ends, and a thread has a processor at both
// ends of a gap. So a stretch inside of the gap belongs to the gap with all that was read for it,
// also with more than its own length. Of a stretch that began before the gap, no more than its part
// of the gap; of one that ends later the same, if the thread waited for something else at its
// start.
std::uint64_t WaitCauses::delay_in(std::uint64_t from, std::uint64_t to, std::uint64_t most) {
  if (from >= to) return 0;
  while (next_delay_ < delays_.size() && delays_[next_delay_].last <= from) ++next_delay_;
  std::uint64_t taken = 0;
  for (std::size_t i = next_delay_; i < delays_.size() && delays_[i].first < to; ++i) {
    Delay& delay = delays_[i];
    const std::uint64_t begin = std::max(delay.first, from), end = std::min(delay.last, to);
    const bool bounded = delay.first < from || (delay.last > to && delay.looked);
    const std::uint64_t room = bounded ? line_.scale(end - begin) : most;
    const std::uint64_t part = std::min({delay.left, room, most - taken});
    delay.left -= part;
    taken += part;
  }
  return taken;
}

WaitCauses::Parts WaitCauses::parts_of(std::uint64_t from, std::uint64_t to, std::uint64_t waited) {
  Parts parts{};
  parts[static_cast<std::size_t>(WaitingCause::kProcessor)] = delay_in(from, to, waited);
  const std::uint64_t rest = waited - parts[static_cast<std::size_t>(WaitingCause::kProcessor)];
  std::array<double, kWaitingCauses> looks{};
  while (next_ < spans_.size() && spans_[next_].last < from) ++next_;
  for (std::size_t i = next_; i < spans_.size() && spans_[i].first <= to; ++i) {
    if (!is_look(spans_[i])) continue;
    looks[static_cast<std::size_t>(cause_of(spans_[i]))] +=
        spans_[i].looks() * share_inside(spans_[i], from, to);
  }
  const double all = std::accumulate(looks.begin(), looks.end(), 0.0);
  std::uint64_t given = 0;
  for (std::size_t i = 1; i < kWaitingCauses && all > 0; ++i) {
    const auto part = static_cast<std::uint64_t>(static_cast<double>(rest) * (looks[i] / all));
    parts[i] += std::min(part, rest - given);
    given += std::min(part, rest - given);
  }
  // Rounding leaves a few nanoseconds to the first.
  parts[0] = rest - given;
  return parts;
}

std::vector<WaitCauses::OfPlace> WaitCauses::gaps() {
  std::vector<OfPlace> all;
  for (const WaitSpan& span : spans_) {
    if (span.kind() != WaitSpanKind::kGap) continue;
    const spool::WaitGap gap = spool::WaitGap::of(span.word);
    const Parts parts = parts_of(span.first, span.last, gap.waited);
    for (std::uint32_t i = 1; i < kWaitingCauses; ++i) {
      if (parts[i] != 0) all.push_back({gap.place, WaitingCause{i}, parts[i]});
    }
  }
  return all;
}

void WaitCauses::append(const Event& waiting, const Parts& parts, std::vector<Event>& to) {
  for (std::uint32_t i = 0; i < kWaitingCauses; ++i) {
    if (parts[i] == 0) continue;
    Event part = waiting;
    part.ref = i;
    part.value = parts[i];
    to.push_back(part);
  }
}

void WaitCauses::divide(std::vector<Event>& batch) {
  const auto waits = [](const Event& event) { return event.kind == EventKind::kWaiting; };
  auto next = spans_.empty() ? batch.end() : std::ranges::find_if(batch, waits);
  if (next == batch.end()) {
    if (!batch.empty()) last_ = ticks(batch.back().time);
    return;
  }
  output_.clear();
  auto begin = batch.begin();
  for (; next != batch.end(); next = std::find_if(begin, batch.end(), waits)) {
    output_.insert(output_.end(), begin, next);
    if (next != batch.begin()) last_ = ticks(std::prev(next)->time);
    append(*next, parts_of(last_, ticks(next->time), next->value), output_);
    begin = std::next(next);
  }
  output_.insert(output_.end(), begin, batch.end());
  last_ = ticks(batch.back().time);
  batch.swap(output_);
}

void WaitCauses::divide_last(std::vector<Event>& events, std::uint64_t until) {
  if (spans_.empty()) return;
  output_.clear();
  for (const Event& event : events) {
    if (event.kind == EventKind::kWaiting && event.ref == 0) {
      append(event, parts_of(last_, until, event.value), output_);
    } else {
      output_.push_back(event);
    }
  }
  events.swap(output_);
}

}  // namespace timeloom::weave
