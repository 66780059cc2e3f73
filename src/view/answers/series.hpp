// The values of a metric on a track, in order of time; of many, neighbours are summed up. The page
// does the same with the values inside a file (viewer/src/source/series.ts), to the last bit.
//
// Used by one thread at a time. Times are ticks since the begin of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "view/answers/fields.hpp"

namespace timeloom::view {

// Values that follow each other. Each stays until the next one.
struct Stretch {
  std::uint64_t begin = 0;  // of the first
  std::uint64_t end = 0;    // of the last
  double min = 0;
  double max = 0;
  double last = 0;
  std::uint64_t count = 0;
  double area = 0;         // values times the ticks for which they stayed
  std::uint64_t time = 0;  // these ticks

  // Over time; of the very last value nobody knows how long it stays.
  double mean() const noexcept {
    return count == 1 || time == 0 ? last : area / static_cast<double>(time);
  }
};

// At first the values are there one by one; when they become many, two neighbours are joined each,
// again and again.
class Series {
 public:
  static constexpr std::size_t kMost = 1 << 12;

  // REQUIRES: `time` is not before that of the value before.
  void add(std::uint64_t time, double value);
  // Those that touch [from, to], the one before and the one after.
  std::vector<Stretch> in(std::uint64_t from, std::uint64_t to) const;
  bool has_each() const noexcept { return each_ == 1; }
  std::uint64_t count() const noexcept { return count_; }

 private:
  std::vector<Stretch> stretches_;
  std::uint64_t each_ = 1;  // values in a stretch that is full
  std::uint64_t count_ = 0;
};

// Their part of the answer of `values`.
void append_values(AnswerWriter& out, std::span<const Stretch> values);

}  // namespace timeloom::view
