#include "weave/gpu/gpu_idle.hpp"

#include <algorithm>
#include <map>

namespace timeloom::weave {
namespace {

constexpr std::uint64_t kLeastIdle = 10'000;

std::uint64_t overlap_ns(Timestamp start, Timestamp end, Timestamp from, Timestamp until) {
  const Timestamp first = std::max(start, from), last = std::min(end, until);
  return first < last ? ticks(last) - ticks(first) : 0;
}

}  // namespace

std::vector<GpuSpan> idle_spans(std::vector<GpuSpan>& works, Timestamp begin, Timestamp end) {
  std::vector<GpuSpan> gaps;
  std::ranges::stable_sort(works, {}, &GpuSpan::start);
  Timestamp until = begin;
  std::uint32_t last = 0;
  for (const GpuSpan& work : works) {
    if (work.start > until) gaps.push_back({until, work.start, work.correlation});
    if (work.end >= until) last = work.correlation;
    until = std::max(until, work.end);
  }
  if (!works.empty() && end > until) gaps.push_back({until, end, last});
  return gaps;
}

std::uint64_t outside_ns(const GpuSpan& span, std::span<const GpuSpan> calls) {
  std::uint64_t outside = ticks(span.end) - ticks(span.start);
  auto call = std::ranges::upper_bound(calls, span.start, {}, &GpuSpan::end);
  for (; call != calls.end() && call->start < span.end; ++call) {
    outside -= overlap_ns(span.start, span.end, call->start, call->end);
  }
  return outside;
}

std::vector<GpuIdle> joined_idle(const std::vector<GpuSpan>& gaps) {
  std::map<Timestamp, std::int64_t> changes;
  for (const GpuSpan& gap : gaps) {
    ++changes[gap.start];
    --changes[gap.end];
  }
  std::vector<GpuIdle> joined;
  std::int64_t devices = 0;
  Timestamp from{};
  for (const auto& [time, change] : changes) {
    if (devices > 0) joined.push_back({from, time, static_cast<std::uint64_t>(devices)});
    devices += change;
    from = time;
  }
  return joined;
}

std::uint64_t PendingGpuIdle::pass(Timestamp until) {
  std::uint64_t ns = 0;
  while (!idle_.empty() && idle_.front().start < until) {
    const GpuIdle& idle = idle_.front();
    ns += idle.devices * overlap_ns(idle.start, idle.end, from_, until);
    if (idle.end > until) break;
    idle_ = idle_.subspan(1);
  }
  from_ = std::max(from_, until);
  return ns;
}

void GpuIdleStream::add(PendingGpuIdle& pending, const Ids& ids, std::vector<Event>& batch) {
  output_.clear();
  for (const Event& event : batch) {
    const std::uint64_t ns = pending.pass(event.time);
    if (!open_.empty()) open_.back() += ns;
    if (event.kind == EventKind::kEnter) {
      open_.push_back(0);
    } else if (event.kind == EventKind::kLeave && !open_.empty()) {
      const std::uint64_t own = open_.back();
      open_.pop_back();
      const bool is_call = event.ref >= ids.first_call;
      if (own >= kLeastIdle || (own != 0 && (is_call || open_.empty()))) {
        output_.push_back({event.time, EventKind::kMetric, ids.metric, own});
      } else if (!open_.empty()) {
        open_.back() += own;
      }
    }
    output_.push_back(event);
  }
  batch.swap(output_);
}

}  // namespace timeloom::weave
