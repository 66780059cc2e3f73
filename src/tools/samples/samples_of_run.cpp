#include "tools/samples/samples_of_run.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/known_directory.hpp"
#include "formats/sample_file/sample_file_reader.hpp"
#include "tools/report/native/native_times.hpp"
#include "tools/samples/regions_of_file.hpp"
#include "tools/samples/run_samples.hpp"

namespace timeloom::tools {

namespace {

using exchange::RunSamples;

Region region_of(const sample_file::Code& code) {
  Region region;
  region.name = part_name({.library = code.library.empty() ? "" : library_label(code.library),
                           .function = code.symbol});
  region.canonical_name = code.symbol;
  region.group = code.library;
  region.paradigm = Paradigm::kSampling;
  region.role = RegionRole::kFunction;
  return region;
}

class SamplesOfRun {
 public:
  SamplesOfRun(sample_file::Reader& file, const Definitions& definitions)
      : file_(file),
        regions_(file, definitions),
        first_(static_cast<std::uint32_t>(definitions.regions.size())) {
    for (const sample_file::Code& code : file.codes()) result_.functions.push_back(region_of(code));
  }

  RunSamples take() {
    file_.each(
        [](LocationId) { return true; },
        [this](LocationId location, const sample_file::Sample& sample) {
          const bool in_function = sample.region != sample_file::kNone;
          result_.of_location[location].push_back(
              {sample.time_ns, sample.weight_ns, sample.line, frames_of(sample), in_function});
        });
    for (auto& [location, samples] : result_.of_location) {
      std::ranges::stable_sort(samples, {}, &exchange::RunSample::time_ns);
    }
    return std::move(result_);
  }

 private:
  std::uint32_t frames_of(const sample_file::Sample& sample) {
    const auto next = static_cast<std::uint32_t>(result_.frames.size());
    const auto [found, fresh] = numbers_.try_emplace({sample.stack, sample.code}, next);
    if (fresh) result_.frames.push_back(new_frames(sample));
    return found->second;
  }

  // The calls below the innermost recorded one.
  std::vector<RegionId> new_frames(const sample_file::Sample& sample) const {
    std::vector<RegionId> frames;
    if (sample.code != sample_file::kNone) frames.emplace_back(first_ + sample.code);
    for (std::uint32_t at = sample.stack;
         at != sample_file::kNone && frames.size() < sample_file::kDeepestStack;
         at = file_.frames()[at].outer) {
      if (!file_.frames()[at].unrecorded) break;
      const RegionId region = regions_(file_.frames()[at].region);
      if (region.defined()) frames.push_back(region);
    }
    std::ranges::reverse(frames);
    return frames;
  }

  sample_file::Reader& file_;
  const RegionsOfFile regions_;
  const std::uint32_t first_;  // the region of the first function of a library
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
  RunSamples result_;
};

}  // namespace

RunSamples samples_of_run(const std::filesystem::path& run, const Definitions& definitions) {
  const std::filesystem::path directory = directory_of_run(run);
  if (!has_single_samples(directory)) {
    throw Error(run.string() +
                " has no single samples: record the program with --sample 1ms or "
                "--sampling, or leave out --samples [TL726]");
  }
  sample_file::Reader file(single_samples(directory));
  return SamplesOfRun(file, definitions).take();
}

RunSamples samples_so_far(const std::string& bytes, const Definitions& definitions) {
  int error = 0;
  os::File memory = os::File::in_memory(std::as_bytes(std::span(bytes)), &error);
  if (error != 0)
    throw Error("the samples so far cannot be read: " + reason_of(error) + " [TL155]");
  sample_file::Reader file(std::move(memory));
  return SamplesOfRun(file, definitions).take();
}

}  // namespace timeloom::tools
