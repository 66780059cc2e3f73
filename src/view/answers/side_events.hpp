// What the events of a run say besides its calls: values of metrics, which thread or task was
// created and awaited from where, and how many messages there are (viewed_messages.hpp has them).
// All tracks are read once, when it is asked for first; what is kept of them is bounded.
//
// Any thread may use a const object. Times are ticks since the begin of the run. Throws Error where
// the index is damaged.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/definitions.hpp"
#include "view/answers/series.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

// From one place to another: a creation leads to the begin of what was created, an end to those
// who have waited for it, a wake to where the task goes on.
struct Link {
  enum class Kind : std::uint8_t { kCreates, kAwaited, kWakes };
  Kind kind = Kind::kCreates;
  std::uint32_t from_track = 0;
  std::uint32_t to_track = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

class SideEvents {
 public:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // track, metric
  static constexpr std::size_t kMostSeries = 512;  // of more, those with the least keys are kept
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

  // Links what has one number.
  void connect(Link::Kind kind, const std::vector<Happening>& from,
               const std::vector<Happening>& to);
  void read(const Track& track, std::uint32_t number, const Definitions& definitions);
  void join(const Found& found);

  std::mutex mutex_;
  std::map<Key, Series> series_;
  std::vector<Happening> creates_, begins_, ends_, waits_, wakes_, woken_;
  std::vector<Link> links_;
  std::vector<std::uint64_t> message_ends_;
  bool complete_ = true;
};

struct ValuesQuestion {
  SideEvents::Key key;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

// The values of metrics in ranges, the one before each and the one after: those of the series, or,
// where these are few, values from the blocks of the track, summed up again where they are many.
// Blocks that several of them need are read once.
std::vector<std::vector<Stretch>> values_in(const Index& index, const SideEvents& events,
                                            const Definitions& definitions,
                                            std::span<const ValuesQuestion> questions);

}  // namespace timeloom::view
