// Profile mode: aggregates the events of one thread into a tree of its call paths,
// which lies in a mapped file of the spool.
//
// Used by its own thread. An event costs a comparison with the child that was entered
// last, or else one look-up. Nothing here throws. Visits without space for their call
// path, and visits deeper than the limit, have no call path of their own. They are counted below
// the last call path that has space: in a node without a region, which has the time of the
// outermost of them, and in one node below it for each function, which has the function's visits
// and their own time. Visits that are too deep, and visits of functions without space, are counted
// in the node without a region alone; without space for that node they are lost, and counted as
// lost.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "core/child_table.hpp"
#include "record/metrics.hpp"
#include "record/profile_samples.hpp"
#include "spool/profile_file.hpp"
#include "spool/writer.hpp"

namespace timeloom::record {

// A call path from which another thread goes on: the threads of a team run below the function that
// made the team. Outermost first.
struct CallPathStep {
  std::uint32_t id = 0;  // of a region, or of a parameter of the region before it
  bool is_parameter = false;
  std::uint64_t value = 0;  // of the parameter
};
using CallPath = std::vector<CallPathStep>;

class ThreadProfile {
 public:
  static constexpr std::uint32_t kMaxPlaces = 500'000;
  // With the places of functions beyond that limit.
  static constexpr std::uint32_t kAllPlaces = 600'000;

  // `max_depth`: levels of call paths that are kept apart; 0: any number. nullptr,
  // with an errno value, when the file cannot be made. `writer` outlives the profile.
  static std::unique_ptr<ThreadProfile> create(spool::Writer& writer, std::uint32_t location,
                                               std::uint32_t max_depth, std::uint64_t now,
                                               int* error) noexcept;
  explicit ThreadProfile(spool::Writer& writer) noexcept : writer_(writer) {}

  void enter(std::uint32_t region, std::uint64_t now) noexcept {
    std::uint32_t child = file_->node(current_).last_child;
    if (file_->node(current_).last_region != region || rare_ != 0) [[unlikely]] {
      child = find_child(region, now);
      if (child == 0) return;  // counted as beyond
      file_->node(current_).last_child = child;
      file_->node(current_).last_region = region;
    }
    spool::ProfileNode& node = file_->node(child);
    node.entered = now;
    ++node.visits;
    current_ = child;
  }

  void leave(std::uint64_t now) noexcept {
    if (rare_ != 0 && leave_rarely(now)) [[unlikely]]
      return;
    spool::ProfileNode& node = file_->node(current_);
    const std::uint64_t ticks = now > node.entered ? now - node.entered : 0;
    node.entered = 0;
    node.ticks += ticks;
    if (ticks < node.shortest) node.shortest = ticks;
    if (ticks > node.longest) node.longest = ticks;
    file_->header().last.store(now, std::memory_order_relaxed);
    current_ = node.parent;
  }

  // Whether nothing was visited in the visit under way, or none is.
  bool just_begun() const noexcept;
  // The visit under way has this value: it goes on in a call path of its own.
  void parameter(std::uint32_t parameter, std::uint64_t value, std::uint64_t now) noexcept;
  // A counter has this value in the call path that is being visited.
  void metric(std::uint32_t metric, double value) noexcept;

  // The profile goes on from where the events of the thread end; then the regions
  // that were open there, outermost first. Its visits have been counted.
  void begin_continued() noexcept { file_->header().continues = 1; }
  void resume(std::uint32_t region, std::uint64_t now) noexcept;

  // The call path that is being visited. Throws std::bad_alloc.
  CallPath call_path();
  // Regions that are entered next lie below this call path of another thread, unless a region is
  // open. Time above them is their time alone.
  void begin_below(const CallPath& path) noexcept;
  // Ends that; does nothing while a region is open.
  void end_below() noexcept {
    if (current_ == below_) current_ = below_ = 0;
  }

  // Samples at every enter and leave from here on; the counts belong to the call path that is
  // innermost until then. `sampler` outlives the profile. Metrics of the process
  // have a file of their own. `sampled`: it goes on from the values that the sampler has.
  void sample_with(Sampler& sampler, std::uint64_t now, bool sampled) noexcept;

  // The thread did not run for so many nanoseconds since the last event: a value of the metric in
  // the call path that is being visited.
  void wait(std::uint32_t metric, std::uint64_t nanoseconds) noexcept;
  // Where that counts: the place in the file. 0: outside all regions.
  std::uint32_t waiting_place() const noexcept { return counting_node(); }
  // The place of the call path that is being visited; 0: none is, or it is beyond a limit. Also for
  // a handler of a signal that interrupts the thread anywhere.
  std::uint32_t visited_place() const noexcept { return beyond() != 0 ? 0 : current_; }
  // The time of the last enter or leave.
  std::uint64_t last_time() noexcept {
    const std::uint64_t left = file_->header().last.load(std::memory_order_relaxed);
    const std::uint64_t entered = current_ == 0 ? 0 : std::uint64_t{file_->node(current_).entered};
    return entered > left ? entered : left;
  }

  // Enters and leaves so far.
  std::uint64_t events() noexcept;
  std::uint64_t bytes() const noexcept;
  // The thread records no more: its files get their checksums.
  void seal() noexcept;
  void abandon() noexcept;

 private:
  struct Sampling {
    Sampler& sampler;
    std::optional<ProfileSamples> of_thread;
    std::unique_ptr<spool::ProfileWriter> process_file;
    std::optional<ProfileSamples> of_process;
  };

  [[gnu::noinline, gnu::cold]] std::uint32_t find_child(std::uint32_t region,
                                                        std::uint64_t now) noexcept;
  // True: nothing else ends.
  [[gnu::noinline, gnu::cold]] bool leave_rarely(std::uint64_t now) noexcept;
  void sample(std::uint64_t now) noexcept;
  std::unique_ptr<spool::ProfileWriter> process_file(std::uint32_t location, std::uint64_t now,
                                                     bool continues) noexcept;
  std::uint32_t beyond() const noexcept { return rare_ & ~kSampling; }
  std::uint32_t add_child(std::uint32_t region) noexcept;
  std::uint32_t add_node(std::uint32_t region) noexcept;
  // A visit beyond the limits.
  struct Beyond {
    std::uint32_t function;  // the node where it counts; 0: that without a region, or none
    std::uint64_t entered;
    std::uint64_t inside;  // ticks of the visits inside it
  };
  void enter_beyond(std::uint32_t function, std::uint64_t now) noexcept;
  void leave_beyond(std::uint64_t now) noexcept;
  std::uint32_t function_beyond(std::uint32_t region) noexcept;
  void count_beyond(std::uint32_t function) noexcept;
  void count_length(std::uint32_t index, std::uint64_t ticks) noexcept;
  // Where values count.
  std::uint32_t counting_node() const noexcept {
    const bool known = !beyond_.empty() && beyond_.back().function != 0;
    return known ? beyond_.back().function : current_;
  }
  bool inside_rest() noexcept {
    return current_ != 0 && file_->node(current_).region == spool::kBeyondLimit;
  }
  bool too_deep() noexcept { return file_->depth(current_) >= max_depth_; }
  void reach(std::uint32_t depth) noexcept;
  std::uint32_t with_parameter(std::uint32_t parameter, std::uint64_t value);
  std::uint32_t with_value(std::uint32_t node, std::uint32_t parameter, std::uint64_t value);
  void move_visit(std::uint32_t to, std::uint64_t now) noexcept;
  std::uint32_t twin_of(std::uint32_t node, const CallPathStep& step);
  std::uint32_t metric_place(std::uint32_t node, std::uint32_t metric) noexcept;

  std::unique_ptr<spool::ProfileWriter> file_;
  std::uint32_t current_ = 0;
  // Conditions for the slow path: open visits beyond the limits; and kSampling, so that profiles
  // without metrics need no check of their own.
  static constexpr std::uint32_t kSampling = std::uint32_t{1} << 31;
  std::uint32_t rare_ = 0;
  std::vector<Beyond> beyond_;  // the outer ones of these visits: all, unless memory ran out
  ChildTable children_;
  std::uint32_t max_depth_ = UINT32_MAX;
  spool::Writer& writer_;
  // From a call path, a parameter and its value to the call path of visits that have it.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> variants_;
  // Call paths of other threads, which nothing on this thread visits. 0: not below one.
  ChildTable twins_;
  std::uint32_t below_ = 0;
  ChildTable metrics_;
  ChildTable waits_;                    // from a node to the place of its waiting
  std::unique_ptr<Sampling> sampling_;  // nullptr: no metrics
};

}  // namespace timeloom::record
