#include "weave/samples/estimated_paths.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/samples/estimated_time.hpp"

namespace timeloom::weave {
namespace {

using profile::EstimatedPath;
using profile::MetricStatistics;

// `stack`: the outermost first, with marks.
EstimatedPath path_of(const std::vector<std::uint32_t>& stack, const ProcessIds& ids) {
  std::vector<profile::SampledFrame> frames;
  for (const std::uint32_t frame : stack) {
    frames.push_back(
        {RegionId{ids.regions[frame & ~kUnrecordedFrame]}, (frame & kUnrecordedFrame) != 0});
  }
  return profile::estimated_path(frames);
}

}  // namespace

std::vector<EstimatedPath> estimated_paths(
    const spool::SampleData& data, const ProcessIds& ids,
    const std::function<LocationId(std::uint32_t)>& location_of) {
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, MetricStatistics> sums;
  std::vector<std::uint32_t> stack;
  std::uint32_t location = UINT32_MAX;
  for (const spool::ThreadSample& sample : data.samples) {
    if (sample.location != std::exchange(location, sample.location)) stack.clear();
    if (!sample.has_stack) continue;
    stack.resize(std::min<std::size_t>(stack.size(), sample.shared));
    const auto added = data.frames.begin() + static_cast<std::ptrdiff_t>(sample.first);
    stack.insert(stack.end(), added, added + sample.count);
    if (stack.empty()) continue;
    sums[{location, stack}].add_value(static_cast<double>(sample.weight_ns));
  }
  std::vector<EstimatedPath> paths;
  for (const auto& [key, time] : sums) {
    EstimatedPath path = path_of(key.second, ids);
    path.location = location_of(key.first);
    path.time = time;
    if (path.location.defined()) paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace timeloom::weave
