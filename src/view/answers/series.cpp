#include "view/answers/series.hpp"

#include <algorithm>

namespace timeloom::view {

namespace {

Stretch joined(const Stretch& a, const Stretch& b) {
  return {
      a.begin,           b.end,           std::min(a.min, b.min), std::max(a.max, b.max), b.last,
      a.count + b.count, a.area + b.area, a.time + b.time};
}

}  // namespace

void Series::add(std::uint64_t time, double value) {
  ++count_;
  const Stretch one{time, time, value, value, value, 1, 0, 0};
  if (!stretches_.empty()) {
    Stretch& before = stretches_.back();
    const std::uint64_t stayed = time - before.end;
    if (stayed > 0) before.area += before.last * static_cast<double>(stayed);
    before.time += stayed;
    if (before.count < each_) {
      before = joined(before, one);
      return;
    }
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
  auto last = std::ranges::upper_bound(stretches_, to, {}, &Stretch::begin);
  if (first != stretches_.begin()) --first;
  if (last != stretches_.end()) ++last;
  return first < last ? std::vector<Stretch>(first, last) : std::vector<Stretch>();
}

void append_values(AnswerWriter& out, std::span<const Stretch> values) {
  out.u32(static_cast<std::uint32_t>(values.size()));
  out.u32(0);
  out.f64s(values, [](const Stretch& part) { return part.begin; });
  out.f64s(values, [](const Stretch& part) { return part.end; });
  for (const Stretch& part : values) out.real(part.min);
  for (const Stretch& part : values) out.real(part.max);
  for (const Stretch& part : values) out.real(part.mean());
  for (const Stretch& part : values) out.real(part.last);
}

}  // namespace timeloom::view
