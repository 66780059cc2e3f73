// A time divided into steps of equal length, with a quantity in each: how much of an interval lies
// in which step. An interval costs the same whatever its length.
//
// A plain value, for one thread at a time. Throws nothing but std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace timeloom::tools {

class Timeline {
 public:
  Timeline() = default;
  // `length`: the whole time, in ticks, at least 1.
  Timeline(std::uint64_t length, std::size_t steps)
      : length_(length),
        width_(static_cast<double>(length) / static_cast<double>(steps)),
        parts_(steps),
        changes_(steps + 1) {}

  // Adds the ticks from `from` up to `to`, times `share`.
  void add(std::uint64_t from, std::uint64_t to, double share) {
    to = std::min(to, length_);
    if (share == 0 || from >= to) return;
    const std::size_t first = step_of(from), last = step_of(to);
    const double begin = static_cast<double>(from), end = static_cast<double>(to);
    if (first == last) {
      parts_[first] += (end - begin) * share;
      return;
    }
    parts_[first] += (static_cast<double>(first + 1) * width_ - begin) * share;
    parts_[last] += (end - static_cast<double>(last) * width_) * share;
    changes_[first + 1] += share;
    changes_[last] -= share;
  }

  // Adds another timeline of the same length and number of steps.
  void add(const Timeline& other) {
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i] += other.parts_[i];
    for (std::size_t i = 0; i < changes_.size(); ++i) changes_[i] += other.changes_[i];
  }

  // The quantity in each step, in lengths of a step: 1 is all of it. Never below 0.
  std::vector<double> levels() const {
    std::vector<double> result;
    result.reserve(parts_.size());
    double whole = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      whole += changes_[i];
      result.push_back(std::max(whole + parts_[i] / width_, 0.0));
    }
    return result;
  }

 private:
  std::size_t step_of(std::uint64_t time) const {
    const auto step = static_cast<std::size_t>(static_cast<double>(time) / width_);
    return std::min(step, parts_.size() - 1);
  }

  std::uint64_t length_ = 1;
  double width_ = 1;
  std::vector<double> parts_;    // ticks
  std::vector<double> changes_;  // of the share, from a step on
};

}  // namespace timeloom::tools
