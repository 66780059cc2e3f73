#include "view/answers/samples/sampled_paths.hpp"

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
  for (const std::uint32_t track : tracks) {
    const auto part = samples_in(samples_of(samples, definitions, track), definitions, from, to);
    if (part.empty()) continue;
    each_path(*index.track(track), part, definitions,
              [&](std::uint32_t path, const exchange::RunSample& sample) {
                finder.add(path, samples.frames[sample.frames], sample.weight_ns);
              });
  }
  return finder.take();
}

std::string samples_answer(const SampledPaths& paths, const exchange::RunSamples& samples,
                           const Definitions& definitions) {
  AnswerWriter out;
  out.u32(static_cast<std::uint32_t>(paths.sums.size()));
  out.u32(static_cast<std::uint32_t>(paths.added.size()));
  out.u32s(paths.sums, [](const auto& sum) { return sum.first; });
  out.f64s(paths.sums, [](const auto& sum) { return sum.second.samples; });
  out.f64s(paths.sums, [&](const auto& sum) { return ticks_of(sum.second.ns, definitions); });
  out.u32s(paths.added, [](const Place& one) { return one.first; });
  out.u32s(paths.added, [](const Place& one) { return one.second; });
  std::string names;
  for (const Region& function : samples.functions) names += printable(function.name) + "\n";
  return out.take() + names;
}

}  // namespace timeloom::view
