// What the events of a run say besides its calls: values of counters, which thread or task was
// created and awaited from where, and how many messages there are (messages.hpp has them). All
// tracks are read once, when it is asked for first; what is kept of them is bounded.
//
// Any thread may use a const object. Times are ticks since the begin of the run. Throws Error where
// the index is damaged.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/definitions.hpp"
#include "view/index.hpp"

namespace timeloom::view {

// Values of a counter that follow each other.
struct Stretch {
  std::uint64_t begin = 0;  // of the first
  std::uint64_t end = 0;    // of the last
  double min = 0;
  double max = 0;
  double sum = 0;
  double last = 0;
  std::uint64_t count = 0;

  double mean() const noexcept { return sum / static_cast<double>(count); }
};

// The values of a counter, at first one by one; when they become many, two neighbours are joined
// each, again and again.
class Series {
 public:
  static constexpr std::size_t kMost = 1 << 13;

  void add(std::uint64_t time, double value);
  // Those that touch [from, to], and the one before.
  std::vector<Stretch> in(std::uint64_t from, std::uint64_t to) const;
  const std::vector<Stretch>& all() const noexcept { return stretches_; }
  std::uint64_t count() const noexcept { return count_; }

 private:
  std::vector<Stretch> stretches_;
  std::uint64_t each_ = 1;  // values in a stretch that is full
  std::uint64_t count_ = 0;
};

// From one place to another: a creation leads to the begin of what was created, an end to those
// who have waited for it.
struct Link {
  enum class Kind : std::uint8_t { kCreates, kAwaited };
  Kind kind = Kind::kCreates;
  std::uint32_t from_track = 0;
  std::uint32_t to_track = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

class SideEvents {
 public:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // track, metric
  static constexpr std::size_t kMostSeries = 256;
  static constexpr std::size_t kMostLinks = 1 << 20;

  SideEvents(const Index& index, const Definitions& definitions);

  const std::map<Key, Series>& series() const noexcept { return series_; }
  // In order of their ends `to`.
  const std::vector<Link>& links() const noexcept { return links_; }
  bool is_complete() const noexcept { return complete_; }
  // By track: how many events are ends of messages.
  const std::vector<std::uint64_t>& message_ends() const noexcept { return message_ends_; }

 private:
  struct Happening {
    std::uint64_t number;
    std::uint64_t time;
    std::uint32_t track;
  };
  struct Found;

  void read(const Track& track, std::uint32_t number, const Definitions& definitions);
  void join(const Found& found);

  std::mutex mutex_;
  std::map<Key, Series> series_;
  std::vector<Happening> creates_, begins_, ends_, waits_;
  std::vector<Link> links_;
  std::vector<std::uint64_t> message_ends_;
  bool complete_ = true;
};

// The values of a counter in a range: each of them where they are few, from the blocks of the
// track; else those of the series.
std::vector<Stretch> values_in(const Index& index, const SideEvents& events,
                               const Definitions& definitions, SideEvents::Key key,
                               std::uint64_t from, std::uint64_t to);

}  // namespace timeloom::view
