#include "view/answers/samples/timed_samples.hpp"

#include <algorithm>

#include "core/scaled.hpp"
#include "core/text/plain_text.hpp"
#include "view/answers/fields.hpp"
#include "view/answers/samples/sample_places.hpp"

namespace timeloom::view {

using exchange::RunSample;

namespace {

constexpr std::uint32_t kNotPlaced = kNone - 1;  // not a region: a sample that no one asked about

}  // namespace

std::uint64_t TimedSamples::time_of(const RunSample& sample) const {
  return ticks_of(sample.time_ns, *definitions_);
}

std::uint32_t TimedSamples::hit_of(const RunSample& sample, std::uint32_t region) const {
  const std::vector<RegionId>& frames = samples_->frames[sample.frames];
  return frames.empty() ? region : static_cast<std::uint32_t>(frames.back().value());
}

std::vector<std::uint32_t> TimedSamples::known_regions(std::uint32_t track, std::size_t begin,
                                                       std::size_t end) const {
  const std::lock_guard lock(mutex_);
  const auto known = regions_.find(track);
  if (known == regions_.end()) return std::vector<std::uint32_t>(end - begin, kNotPlaced);
  return {known->second.begin() + static_cast<std::ptrdiff_t>(begin),
          known->second.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<std::uint32_t> TimedSamples::regions_of(const Index& index, std::uint32_t track,
                                                    std::size_t begin, std::size_t end) const {
  const std::span<const RunSample> all = samples_of(*samples_, *definitions_, track);
  std::vector<std::uint32_t> regions = known_regions(track, begin, end);
  const auto first = std::ranges::find(regions, kNotPlaced);
  if (first == regions.end()) return regions;
  const auto last = std::find(regions.rbegin(), regions.rend(), kNotPlaced).base();
  const auto skipped = static_cast<std::size_t>(first - regions.begin());
  auto next = first;
  each_path(*index.track(track),
            all.subspan(begin + skipped, static_cast<std::size_t>(last - first)), *definitions_,
            [&](std::uint32_t path, const RunSample&) {
              *next++ = path == kNone ? kNone : index.paths()[path].region;
            });
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t>& known = regions_[track];
  known.resize(all.size(), kNotPlaced);
  std::copy(first, last, known.begin() + static_cast<std::ptrdiff_t>(begin + skipped));
  return regions;
}

std::uint32_t TimedSamples::column_of(const RunSample& sample,
                                      const TimedQuestion& question) const {
  return static_cast<std::uint32_t>(
      scaled(time_of(sample) - question.from, question.columns, question.to - question.from));
}

TimedSample TimedSamples::joined(std::span<const RunSample> samples,
                                 std::span<const std::uint32_t> regions,
                                 std::uint32_t track) const {
  TimedSample sum;
  sum.track = track;
  sum.samples = samples.size();
  sum.first = time_of(samples.front());
  sum.last = time_of(samples.back());
  if (samples.size() == 1) sum.line = samples.front().line;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::size_t>> hits;  // number and first
  for (std::size_t i = 0; i < samples.size(); ++i) {
    sum.ns += samples[i].weight_ns;
    ++hits.try_emplace(hit_of(samples[i], regions[i]), 0, i).first->second.first;
  }
  const auto& [hit, of] = *std::ranges::max_element(hits, [](const auto& a, const auto& b) {
    return std::pair(a.second.first, b.second.second) < std::pair(b.second.first, a.second.second);
  });
  sum.hit = hit;
  sum.most = of.first;
  sum.region = regions[of.second];
  return sum;
}

void TimedSamples::append(const Index& index, const TimedQuestion& question, std::uint32_t track,
                          std::vector<TimedSample>& to) const {
  const std::span<const RunSample> all = samples_of(*samples_, *definitions_, track);
  const auto samples = samples_in(all, *definitions_, question.from, question.to);
  if (samples.empty()) return;
  const auto begin = static_cast<std::size_t>(samples.data() - all.data());
  const std::vector<std::uint32_t> regions =
      regions_of(index, track, begin, begin + samples.size());
  const bool alone = samples.size() <= question.limit;
  for (std::size_t at = 0, next = 0; at < samples.size(); at = next) {
    next = at + 1;
    const std::uint32_t column = alone ? 0 : column_of(samples[at], question);
    while (!alone && next < samples.size() && column_of(samples[next], question) == column) ++next;
    to.push_back(
        joined(samples.subspan(at, next - at), std::span(regions).subspan(at, next - at), track));
  }
}

std::vector<TimedSample> TimedSamples::in(const Index& index, const TimedQuestion& question) const {
  std::vector<TimedSample> found;
  for (const std::uint32_t track : question.tracks) append(index, question, track, found);
  return found;
}

std::uint64_t TimedSamples::count() const {
  std::uint64_t sum = 0;
  for (const auto& [location, samples] : samples_->of_location) sum += samples.size();
  return sum;
}

std::string TimedSamples::answer(const std::vector<TimedSample>& found) const {
  const auto regions = static_cast<std::uint32_t>(definitions_->regions.size());
  std::map<std::uint32_t, std::uint32_t> numbers;  // of functions of libraries, in the answer
  std::string names;
  for (const TimedSample& one : found) {
    if (one.hit == kNone || one.hit < regions) continue;
    const auto number = static_cast<std::uint32_t>(regions + numbers.size());
    if (!numbers.try_emplace(one.hit, number).second) continue;
    names += printable(samples_->functions[one.hit - regions].name) + "\n";
  }
  const auto hit = [&](const TimedSample& one) {
    return one.hit == kNone || one.hit < regions ? one.hit : numbers.at(one.hit);
  };
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(found.size()));
  out.u32(0);
  out.f64s(found, [](const TimedSample& one) { return one.samples; });
  out.f64s(found, [](const TimedSample& one) { return one.first; });
  out.f64s(found, [](const TimedSample& one) { return one.last; });
  out.f64s(found, [&](const TimedSample& one) { return ticks_of(one.ns, *definitions_); });
  out.f64s(found, [](const TimedSample& one) { return one.most; });
  out.u32s(found, [](const TimedSample& one) { return one.track; });
  out.u32s(found, hit);
  out.u32s(found, [](const TimedSample& one) { return one.region; });
  out.u32s(found, [](const TimedSample& one) { return one.line; });
  return out.take() + names;
}

}  // namespace timeloom::view
