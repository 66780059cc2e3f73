#include "weave/samples/sampled_places.hpp"

namespace timeloom::weave {
namespace {

const spool::ProfileNode* call_path(const spool::ProfileData& data, std::uint32_t place) {
  if (place > data.places.size()) return nullptr;
  const spool::ProfileNode& node = data.places[place - 1];
  return node.kind <= spool::PlaceKind::kContinued ? &node : nullptr;
}

}  // namespace

SampledPlaces take_places(spool::SampleData& data, std::span<const spool::ProfileData> profiles) {
  std::map<std::uint32_t, const spool::ProfileData*> by_location;
  for (const spool::ProfileData& one : profiles) by_location[one.location] = &one;
  SampledPlaces places;
  for (spool::ThreadSample& sample : data.samples) {
    if (sample.place == 0) continue;
    const auto found = by_location.find(sample.location);
    const spool::ProfileNode* const node =
        found == by_location.end() ? nullptr : call_path(*found->second, sample.place);
    if (node == nullptr) {
      sample.place = 0;
      continue;
    }
    if (sample.region == spool::kNoSampledRegion) sample.region = node->region;
    places[{sample.location, sample.place}].add_value(static_cast<double>(sample.weight_ns));
  }
  return places;
}

}  // namespace timeloom::weave
