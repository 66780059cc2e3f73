// The contents of a run's events other than calls: values of metrics; the calls that created and
// awaited each thread or task, or started work on a GPU, with its time there, and the tasks of
// engines; and the number of messages (viewed_messages.hpp has the messages). All tracks are read
// once, at first use; the amount of data kept is bounded.
//
// Any thread may use a const object. Times are ticks since the start of the run. Throws Error where
// the index is damaged.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/definitions.hpp"
#include "profile/engines/task_arrows.hpp"
#include "profile/gpu/gpu_launch.hpp"
#include "view/answers/gpu_starts.hpp"
#include "view/answers/series.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

// A link between two places: from a creation to the start of the thread or task, from its end to a
// call that waited for it, from a wakeup to the place where the task continues, from the call
// that started work on a GPU to this work, or from the end of a task of an engine to the start of
// another one that takes its value.
struct Link {
  enum class Kind : std::uint8_t { kCreates, kAwaited, kWakes, kLaunches, kTakes };
  Kind kind = Kind::kCreates;
  std::uint32_t from_track = 0;
  std::uint32_t to_track = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

class AuxiliaryEvents {
 public:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // track, metric
  static constexpr std::size_t kMostSeries = 512;       // beyond this, the smallest keys are kept
  static constexpr std::size_t kMostLinks = 1 << 20;
  static constexpr std::size_t kMostStarts = 1 << 20;

  AuxiliaryEvents(const Index& index, const Definitions& definitions);

  const std::map<Key, Series>& series() const noexcept { return series_; }
  // In order of their ends `to`.
  const std::vector<Link>& links() const noexcept { return links_; }
  bool is_complete() const noexcept { return complete_; }
  // The calls that started work on GPUs; of more than kMostStarts calls, some of each track.
  const std::vector<GpuStart>& gpu_starts() const noexcept { return gpu_starts_; }
  bool has_all_gpu_starts() const noexcept { return all_gpu_starts_; }
  // For each track, the number of events that are ends of messages.
  const std::vector<std::uint64_t>& message_ends() const noexcept { return message_ends_; }

 private:
  struct Happening {
    std::uint64_t number;
    std::uint64_t time;
    std::uint32_t track;
  };
  struct Found;
  // What the events of a run are looked for.
  struct Sought;

  // Links events with the same number.
  void connect(Link::Kind kind, const std::vector<Happening>& from,
               const std::vector<Happening>& to);
  void connect_tasks(const ClockProperties& clock);
  void read(const Track& track, std::uint32_t number, const Sought& sought);
  void join(Found& found);

  std::mutex mutex_;
  std::map<Key, Series> series_;
  std::vector<Happening> creates_, begins_, ends_, waits_, wakes_, woken_, calls_, works_;
  profile::FollowedTasks tasks_;
  std::vector<Link> links_;
  std::vector<std::uint64_t> message_ends_;
  std::vector<GpuStart> gpu_starts_;
  bool complete_ = true;
  bool all_gpu_starts_ = true;
};

struct ValuesQuestion {
  AuxiliaryEvents::Key key;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

// The values of metrics in ranges, with one more before and after each. They come from the series
// or, where a series has few values in a range, from the blocks of the track; many values are
// joined again. Blocks that several ranges need are read once.
std::vector<std::vector<Stretch>> values_in(const Index& index, const AuxiliaryEvents& events,
                                            const Definitions& definitions,
                                            std::span<const ValuesQuestion> questions);

}  // namespace timeloom::view
