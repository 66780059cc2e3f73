#include "tools/samples/run_samples.hpp"

#include <system_error>

#include "core/error.hpp"
#include "formats/sample_file/sample_file_reader.hpp"
#include "run/contents.hpp"
#include "run/sample_sums.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

fs::path directory_of_run(const fs::path& run) {
  std::error_code none;
  return fs::is_directory(run, none) ? run : run.parent_path();
}

fs::path single_samples(const fs::path& run) {
  return run / run::name_of(run::Item::kSingleSamples);
}

bool has_single_samples(const fs::path& run) {
  std::error_code none;
  return fs::is_regular_file(single_samples(run), none);
}

void refuse_without_single_samples(const fs::path& run) {
  if (has_single_samples(run)) return;
  throw Error(run.string() +
              " has its samples added up only, as older versions have woven them: leave out "
              "--thread, --group, --from and --to, or record the program again [TL172]");
}

SampleRows sum_samples(const fs::path& run, const SamplePart& part) {
  if (!has_single_samples(run)) return {};
  sample_file::Reader file(single_samples(run));
  run::SampleSums sums;
  file.each([&](LocationId location) { return part.contains(location); },
            [&](LocationId, const sample_file::Sample& sample) {
              if (!part.contains(sample.time_ns)) return;
              sums.add(sample.region, sample.code, sample.line, sample.weight_ns);
            });
  const auto function_of = [&](std::uint32_t region) -> std::optional<run::SampledFunction> {
    const sample_file::Function* const function = file.function(region);
    if (function == nullptr) return std::nullopt;
    return run::SampledFunction{function->name, function->file, function->line};
  };
  const auto code_of = [&](std::uint32_t code) {
    if (code == sample_file::kNone) return run::SampledCode();
    return run::SampledCode{file.codes()[code].library, file.codes()[code].symbol};
  };
  return {sums.rows(function_of, code_of), sums.lines(function_of)};
}

}  // namespace timeloom::tools
