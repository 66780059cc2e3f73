// The single samples of a run, of which a part is added up: some threads, a stretch of time.
//
// Plain functions, used by one thread. They throw Error for a file that is damaged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "core/ids.hpp"
#include "run/line_rows.hpp"
#include "run/sample_rows.hpp"

namespace timeloom::tools {

// A part of a run.
struct SamplePart {
  std::optional<std::set<LocationId>> locations{};  // nothing: all
  // In nanoseconds since the start of the run; `until` does not belong to it.
  std::uint64_t from = 0;
  std::uint64_t until = UINT64_MAX;

  bool contains(LocationId location) const { return !locations || locations->contains(location); }
  bool contains(std::uint64_t time) const noexcept { return time >= from && time < until; }
};

// As samples.csv and lines.csv have them, of that part.
struct SampleRows {
  std::vector<run::SampleRow> rows;
  std::vector<run::LineRow> lines;
};

// The directory of a run that is named by it, or by its trace.
std::filesystem::path directory_of_run(const std::filesystem::path& run);
// The path of the file of its single samples.
std::filesystem::path single_samples(const std::filesystem::path& run);
// Whether the run has its single samples: older versions did not keep them.
bool has_single_samples(const std::filesystem::path& run);
// Throws Error if it has not.
void refuse_without_single_samples(const std::filesystem::path& run);

// Nothing without single samples.
SampleRows sum_samples(const std::filesystem::path& run, const SamplePart& part);

}  // namespace timeloom::tools
