#include "tools/samples/run_estimates.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/samples/estimated_time.hpp"
#include "core/throttled.hpp"
#include "formats/sample_file/sample_file_reader.hpp"
#include "profile/samples/throttled_times.hpp"
#include "tools/samples/regions_of_file.hpp"

namespace timeloom::tools {
namespace {

namespace fs = std::filesystem;
using profile::MetricStatistics;

using StackSums = std::map<std::pair<LocationId, std::uint32_t>, MetricStatistics>;  // by stack

StackSums stack_sums(sample_file::Reader& file, const SamplePart& part) {
  StackSums sums;
  file.each([&](LocationId location) { return part.contains(location); },
            [&](LocationId location, const sample_file::Sample& sample) {
              if (sample.stack == sample_file::kNone || !part.contains(sample.time_ns)) return;
              sums[{location, sample.stack}].add_value(static_cast<double>(sample.weight_ns));
            });
  return sums;
}

// The outermost first; of a stack that is too deep, the innermost frames.
std::vector<profile::SampledFrame> stack_of(const sample_file::Reader& file,
                                            std::uint32_t innermost, const RegionsOfFile& regions) {
  std::vector<profile::SampledFrame> stack;
  std::uint32_t at = innermost;
  for (; at != sample_file::kNone && stack.size() < sample_file::kDeepestStack;
       at = file.frames()[at].outer) {
    stack.push_back({regions(file.frames()[at].region), file.frames()[at].unrecorded});
  }
  std::ranges::reverse(stack);
  return stack;
}

}  // namespace

bool lacks_estimates(const Definitions& definitions, const fs::path& run) {
  return ThrottledFunctions(definitions.properties).any() && !has_estimates(definitions) &&
         has_single_samples(directory_of_run(run));
}

void add_estimates(profile::CallTree& tree, const fs::path& run, const SamplePart& part) {
  if (!lacks_estimates(tree.definitions, run)) return;
  sample_file::Reader file(single_samples(directory_of_run(run)));
  const RegionsOfFile regions(file, tree.definitions);
  std::vector<profile::EstimatedPath> paths;
  for (const auto& [key, time] : stack_sums(file, part)) {
    auto path = profile::estimated_path(stack_of(file, key.second, regions));
    path.location = key.first;
    path.time = time;
    paths.push_back(std::move(path));
  }
  profile::add_estimates(tree, paths);
}

}  // namespace timeloom::tools
