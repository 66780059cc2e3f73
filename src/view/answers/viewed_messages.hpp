// The communication between the processes of a run: messages with both ends, and visits to
// collective operations, each with the time that it waited for others. Matched by
// profile/messages.hpp.
//
// Any thread may use a const object. Times are ticks since the start of the run. The amount of data
// kept is bounded. Throws Error where the index is damaged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "profile/messages.hpp"
#include "view/index/index.hpp"

namespace timeloom::view {

// True for events that Messages uses.
constexpr bool is_end_of_message(EventKind kind) noexcept {
  return kind == EventKind::kMpiSend || kind == EventKind::kMpiIsend ||
         kind == EventKind::kMpiRecv || kind == EventKind::kMpiIrecvRequest ||
         kind == EventKind::kMpiIrecv || kind == EventKind::kMpiCollectiveEnd;
}

// One message, or several of a sender and a receiver.
struct Bundle {
  std::uint64_t count = 1;
  std::uint64_t sent = 0, last_sent = 0;          // the first and the last of them
  std::uint64_t received = 0, last_received = 0;  // the same
  std::uint64_t bytes = 0;
  std::uint64_t waited_sender = 0, waited_receiver = 0;  // sums
  std::uint32_t from_track = 0, to_track = 0;
  std::uint32_t communicator = 0, tag = 0;  // of the first message

  std::uint64_t time() const noexcept { return sent; }
  auto place() const noexcept { return std::pair(from_track, to_track); }
  bool touches(std::uint64_t from, std::uint64_t to) const noexcept {
    return std::min(sent, received) < to && std::max(sent, received) >= from;
  }
  void join(const Bundle& other) noexcept;
};

// One visit to a collective operation, or several of a track.
struct Gathering {
  std::uint64_t count = 1;
  std::uint64_t begin = 0, end = 0;  // start of the first, end of the last
  std::uint64_t waited = 0;          // sum
  std::uint64_t sent = 0, received = 0;
  std::uint32_t track = 0;
  std::uint32_t communicator = 0, kind = 0;  // of the first visit
  std::uint32_t operation = 0;               // the visits of one operation share a number

  std::uint64_t time() const noexcept { return begin; }
  auto place() const noexcept { return std::pair(track, track); }
  bool touches(std::uint64_t from, std::uint64_t to) const noexcept {
    return begin < to && end >= from;
  }
  void join(const Gathering& other) noexcept;
};

class Messages {
 public:
  // Limit of ends of messages and visits to collective operations.
  static constexpr std::uint64_t kMostEnds = 1 << 20;

  // `ends`: by track, the number of events that are ends of messages.
  Messages(const Index& index, const Definitions& definitions, std::span<const std::uint64_t> ends);

  // In the order of their times, then of their tracks; each has the count 1.
  const std::vector<Bundle>& all() const noexcept { return messages_; }
  const std::vector<Gathering>& gatherings() const noexcept { return gatherings_; }
  // Messages that were not received, or not sent; and messages received before they were sent. Some
  // may be missing where is_complete() is false.
  std::uint64_t unmatched() const noexcept { return unmatched_; }
  std::uint64_t backwards() const noexcept { return backwards_; }
  bool is_complete() const noexcept { return complete_; }

 private:
  std::vector<Bundle> messages_;
  std::vector<Gathering> gatherings_;
  std::uint64_t unmatched_ = 0;
  std::uint64_t backwards_ = 0;
  bool complete_ = true;
};

// A question about [from, to) and some tracks.
struct MessageQuestion {
  std::uint64_t from = 0, to = 0;
  std::vector<bool> tracks;  // by number; empty: all. One end of a message on them is sufficient.
  std::size_t limit = 0;
  std::uint32_t columns = 1;  // a power of two

  bool asks_for(const Bundle& one) const {
    return tracks.empty() || tracks[one.from_track] || tracks[one.to_track];
  }
  bool asks_for(const Gathering& one) const { return tracks.empty() || tracks[one.track]; }
};

template <typename Item>
struct Bundled {
  std::vector<Item> items;
  std::uint64_t count = 0;  // items that touch the range, whether or not they are returned
  bool complete = true;     // all items are returned
};

// All items that touch the range, one by one if there are at most `limit`. Otherwise items between
// the same tracks are joined if they start in the same part of the range. The range has `columns`
// parts, or fewer until the limit is kept. If this does not suffice, the items with the highest
// count are returned.
Bundled<Bundle> bundles_in(const Messages& messages, const MessageQuestion& question);
Bundled<Gathering> gatherings_in(const Messages& messages, const MessageQuestion& question);

// The messages between two processes.
struct Pair {
  std::uint32_t sender = 0, receiver = 0;
  std::uint64_t count = 0, bytes = 0, waited_sender = 0, waited_receiver = 0;
};

// The messages sent in the range, by sender and then by receiver. With more than `limit` pairs, the
// pairs with the most bytes are returned.
Bundled<Pair> matrix_of(const Messages& messages, const Definitions& definitions,
                        const MessageQuestion& question);

}  // namespace timeloom::view
