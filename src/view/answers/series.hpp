// The values of a metric on a track, in order of time; where there are many, neighbours are joined.
// The page does the same with the values in a file (viewer/src/source/series.ts), with
// bit-identical results.
//
// Used by one thread at a time. Times are ticks since the start of the run. Throws only
// std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "view/answers/fields.hpp"

namespace timeloom::view {

// Consecutive values. Each is valid until the next one.
struct Stretch {
  std::uint64_t begin = 0;  // time of the first
  std::uint64_t end = 0;    // of the last
  double min = 0;
  double max = 0;
  double last = 0;
  std::uint64_t count = 0;
  double area = 0;         // values times the ticks for which they were valid
  std::uint64_t time = 0;  // these ticks

  // The mean over time; the end of the very last value is not known.
  double mean() const noexcept {
    return count == 1 || time == 0 ? last : area / static_cast<double>(time);
  }
};

// Keeps values one by one at first. When they become many, pairs of neighbours are joined, again
// and again.
class Series {
 public:
  static constexpr std::size_t kMost = 1 << 12;

  // REQUIRES: `time` is not before the time of the previous value.
  void add(std::uint64_t time, double value);
  // The stretches that touch [from, to), and one more on each side.
  std::vector<Stretch> in(std::uint64_t from, std::uint64_t to) const;
  bool has_each() const noexcept { return each_ == 1; }
  std::uint64_t count() const noexcept { return count_; }

 private:
  std::vector<Stretch> stretches_;
  std::uint64_t each_ = 1;  // values in a full stretch
  std::uint64_t count_ = 0;
};

// Appends the values' part of the answer to `values`.
void append_values(AnswerWriter& out, std::span<const Stretch> values);

}  // namespace timeloom::view
