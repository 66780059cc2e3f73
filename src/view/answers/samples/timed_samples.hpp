// The samples of tracks at their times: one by one, or, where a track has many, joined by columns
// of time.
//
// Any thread may ask. Times are ticks since the start of the run. Throws Error where the index is
// damaged.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/definitions.hpp"
#include "exchange/samples/sampled_run.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

struct TimedQuestion {
  std::uint64_t from = 0, to = 0;  // [from, to)
  std::uint32_t limit = 1;         // of a track with more samples, the samples of a column are one
  std::uint32_t columns = 1;       // of equal length
  std::vector<std::uint32_t> tracks;  // in order, each once
};

// A sample, or the samples of a column. Functions of libraries have the numbers behind the regions
// of the run.
struct TimedSample {
  std::uint64_t samples = 0;
  std::uint64_t first = 0, last = 0;  // times
  std::uint64_t ns = 0;               // of CPU time
  std::uint64_t most = 0;             // the samples in `hit`
  std::uint32_t track = 0;
  std::uint32_t hit = kNone;     // the first function with most of the samples; kNone: outside all
  std::uint32_t region = kNone;  // the recorded call around the first of these
  std::uint32_t line = 0;        // of a sample that is alone; 0: not known
};

class TimedSamples {
 public:
  // REQUIRES: the samples and definitions belong to one run. The definitions outlive this object.
  TimedSamples(const Definitions& definitions, std::shared_ptr<const exchange::RunSamples> samples)
      : definitions_(&definitions), samples_(std::move(samples)) {}

  // By track, then by time. REQUIRES: the index belongs to the run; limit and columns are not 0.
  std::vector<TimedSample> in(const Index& index, const TimedQuestion& question) const;
  // The number of samples of the whole run.
  std::uint64_t count() const;
  // In the form of docs/formats/view-http.md.
  std::string answer(const std::vector<TimedSample>& found) const;

 private:
  std::uint64_t time_of(const exchange::RunSample& sample) const;
  std::uint32_t hit_of(const exchange::RunSample& sample, std::uint32_t region) const;
  // The recorded calls at the samples [begin, end) of a track, as far as they are known.
  std::vector<std::uint32_t> known_regions(std::uint32_t track, std::size_t begin,
                                           std::size_t end) const;
  // The same, all of them. Reads the index without the lock: others may ask meanwhile.
  std::vector<std::uint32_t> regions_of(const Index& index, std::uint32_t track, std::size_t begin,
                                        std::size_t end) const;
  std::uint32_t column_of(const exchange::RunSample& sample, const TimedQuestion& question) const;
  void append(const Index& index, const TimedQuestion& question, std::uint32_t track,
              std::vector<TimedSample>& to) const;
  TimedSample joined(std::span<const exchange::RunSample> samples,
                     std::span<const std::uint32_t> regions, std::uint32_t track) const;

  const Definitions* definitions_;
  std::shared_ptr<const exchange::RunSamples> samples_;
  mutable std::mutex mutex_;
  // By track: the recorded call at each sample that a question was about.
  mutable std::map<std::uint32_t, std::vector<std::uint32_t>> regions_;
};

}  // namespace timeloom::view
