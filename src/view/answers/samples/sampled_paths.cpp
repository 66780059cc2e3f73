#include "view/answers/samples/sampled_paths.hpp"

#include <algorithm>
#include <span>

#include "core/scaled.hpp"
#include "core/text/plain_text.hpp"
#include "view/answers/fields.hpp"
#include "view/answers/samples/sample_places.hpp"

namespace timeloom::view {

namespace {

using Place = std::pair<std::uint32_t, std::uint32_t>;  // parent and region

class Finder {
 public:
  explicit Finder(const Index& index) : next_(static_cast<std::uint32_t>(index.paths().size())) {
    for (std::uint32_t i = 0; i < next_; ++i) {
      numbers_.try_emplace({index.paths()[i].parent, index.paths()[i].region}, i);
    }
  }
  void add(std::uint32_t path, const std::vector<RegionId>& frames, std::uint64_t ns) {
    for (const RegionId frame : frames) path = below(path, frame.value());
    SampleSum& sum = found_.sums[path];
    ++sum.samples;
    sum.ns += ns;
  }
  SampledPaths take() { return std::move(found_); }

 private:
  std::uint32_t below(std::uint32_t path, std::uint32_t region) {
    const auto [known, fresh] = numbers_.try_emplace({path, region}, next_);
    if (fresh) {
      found_.added.emplace_back(path, region);
      ++next_;
    }
    return known->second;
  }

  std::map<Place, std::uint32_t> numbers_;
  std::uint32_t next_;
  SampledPaths found_;
};

}  // namespace

SampledPaths sampled_paths(const Index& index, const Definitions& definitions,
                           const exchange::RunSamples& samples,
                           const std::vector<std::uint32_t>& tracks, std::uint64_t from,
                           std::uint64_t to) {
  Finder finder(index);
  const auto time_of = [&](const exchange::RunSample& sample) {
    return scaled(sample.time_ns, definitions.clock.ticks_per_second, kNanoseconds);
  };
  for (const std::uint32_t track : tracks) {
    if (track >= definitions.locations.size()) continue;
    const auto all = samples.of_location.find(definitions.locations[track].id);
    if (all == samples.of_location.end()) continue;
    const auto begin = std::ranges::lower_bound(all->second, from, {}, time_of);
    const auto end = std::ranges::lower_bound(begin, all->second.end(), to, {}, time_of);
    each_path(*index.track(track), std::span(begin, end), time_of,
              [&](std::uint32_t path, const exchange::RunSample& sample) {
                finder.add(path, samples.frames[sample.frames], sample.weight_ns);
              });
  }
  return finder.take();
}

std::string samples_answer(const SampledPaths& paths, const exchange::RunSamples& samples,
                           const Definitions& definitions) {
  const auto ticks = [&](const SampleSum& sum) {
    return scaled(sum.ns, definitions.clock.ticks_per_second, kNanoseconds);
  };
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(paths.sums.size()));
  out.u32(static_cast<std::uint32_t>(paths.added.size()));
  out.u32s(paths.sums, [](const auto& sum) { return sum.first; });
  out.f64s(paths.sums, [](const auto& sum) { return sum.second.samples; });
  out.f64s(paths.sums, [&](const auto& sum) { return ticks(sum.second); });
  out.u32s(paths.added, [](const Place& one) { return one.first; });
  out.u32s(paths.added, [](const Place& one) { return one.second; });
  std::string names;
  for (const Region& function : samples.functions) names += printable(function.name) + "\n";
  return out.take() + names;
}

}  // namespace timeloom::view
