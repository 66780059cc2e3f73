// The sums of an outline.
//
// A step is a stretch of 4^level ticks. The section of a track contains its call paths, as in an
// index; then, one by one, the calls that lie in more than one step; then, for each step with
// calls, a list of path_sums.hpp: exclusive time and waiting of all calls in the step, and number,
// shortest and longest of the calls that lie inside it. For any range of whole steps, these give
// exactly the table that the single calls would give.

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "core/parallel.hpp"
#include "view/index/cursor.hpp"
#include "view/index/waited.hpp"
#include "view/page/outline.hpp"

namespace timeloom::view {

namespace {

class StepWriter {
 public:
  StepWriter(const Track& track, unsigned level) : track_(track), shift_(2 * level) {
    for (PathSums& sums : sums_) sums.grow(track.nodes().size());
  }

  // The section of the track `number`; empty if its steps would exceed `most` bytes.
  std::string write(std::uint32_t number, std::size_t most) {
    std::uint64_t last = track_.record().begin;
    step_ = last >> shift_;
    std::uint32_t inner = kNone;
    for (Cursor cursor(track_, 0); cursor.next_of_track();) {
      const Waited none{last, cursor.time(), {}};
      book(inner, cursor.is_waiting() ? cursor.waited() : none);
      last = cursor.time();
      if (cursor.token() == Token::kLeave) add(cursor.frame(), last);
      inner = cursor.open().empty() ? kNone : cursor.open().back().node;
      if (steps_.size() + sizeof(Long) * long_.size() > most) return {};
    }
    end_step();
    end_step();
    return section(number);
  }

 private:
  struct Long {
    std::uint64_t begin, end;
    std::uint32_t node;
  };

  std::uint64_t end_of_step() const { return (step_ + 1) << shift_; }
  PathSums& sums(std::uint64_t step) { return sums_[step % 2]; }

  // Goes on to the step that contains the time, or ends at it. An event at the end of a step
  // belongs to it if its call started in the step, and otherwise to the next one: both are open.
  void book(std::uint32_t node, const Waited& time) {
    for (std::uint64_t from = time.begin;;) {
      const std::uint64_t to = std::min(time.end, end_of_step());
      if (node != kNone && from < to) {
        PathSum& sum = sums(step_).of(node);
        sum.own += to - from;
        sum.add_waiting(time.in(from, to));
      }
      if (time.end <= end_of_step()) return;
      from = std::max(from, to);
      end_step();
    }
  }
  void add(const Frame& frame, std::uint64_t end) {
    const std::uint64_t step = frame.begin >> shift_;
    if (end > (step + 1) << shift_) {
      long_.push_back({frame.begin, end, frame.node});
      return;
    }
    PathSum& sum = sums(step).of(frame.node);
    ++sum.enters;
    sum.add_leave(end - frame.begin);
  }
  void end_step() {
    PathSums& sums = this->sums(step_);
    if (!sums.nodes().empty()) {
      std::string list;
      sums.write(list);
      append_varint(steps_, step_ - written_);
      append_varint(steps_, list.size());
      steps_ += list;
      written_ = step_;
      sums.clear();
    }
    ++step_;
  }

  std::string section(std::uint32_t number) {
    std::vector<std::uint32_t> head = {number, static_cast<std::uint32_t>(track_.nodes().size())};
    for (const Node& node : track_.nodes()) head.push_back(node.path);
    std::string bytes(record_bytes(head.data(), head.size()));
    std::ranges::stable_sort(long_, {}, &Long::begin);
    append_varint(bytes, long_.size());
    std::uint64_t last = 0;
    for (const Long& call : long_) {
      append_varint(bytes, call.node);
      append_varint(bytes, call.begin - last);
      append_varint(bytes, call.end - call.begin);
      last = call.begin;
    }
    return bytes += steps_;
  }

  const Track& track_;
  unsigned shift_;
  std::uint64_t step_ = 0;
  std::uint64_t written_ = 0;     // the last step in steps_
  std::array<PathSums, 2> sums_;  // of this step and of the next one
  std::vector<Long> long_;
  std::string steps_;
};

// Empty if the sections would exceed `most` bytes.
std::vector<std::string> sections_at(const Index& index, unsigned level, std::size_t most) {
  std::vector<std::string> sections(index.tracks().size());
  std::atomic<std::size_t> bytes = 0;
  for_each_in_parallel(sections.size(), std::max(1u, std::thread::hardware_concurrency()),
                       [&](std::size_t i) {
                         const auto number = static_cast<std::uint32_t>(i);
                         if (bytes > most || index.tracks()[i].block_count == 0) return;
                         std::string& section = sections[i];
                         section = StepWriter(*index.track(number), level).write(number, most);
                         bytes += section.empty() ? most + 1 : section.size();
                       });
  if (bytes > most) sections.clear();
  return sections;
}

}  // namespace

OutlineSums outline_sums(const Index& index, const OutlineLimits& limits) {
  std::uint64_t end = 0;
  for (const TrackRecord& track : index.tracks()) end = std::max(end, track.end);
  OutlineSums sums;
  while ((end >> (2 * sums.level)) + 1 > std::max<std::uint64_t>(1, limits.steps)) ++sums.level;
  if (index.tracks().empty()) return sums;
  for (;; ++sums.level) {
    // At least a single step is required.
    const bool one = end >> (2 * sums.level) == 0;
    sums.sections = sections_at(index, sums.level, one ? SIZE_MAX / 2 : limits.sum_bytes);
    if (!sums.sections.empty()) return sums;
  }
}

}  // namespace timeloom::view
