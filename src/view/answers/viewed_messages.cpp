#include "view/answers/viewed_messages.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <thread>
#include <tuple>

#include "core/parallel.hpp"
#include "view/index/cursor.hpp"

namespace timeloom::view {

namespace {

constexpr std::size_t kBatch = 4096;

// Replays the message events of a track.
void replay(const Track& track, LocationSink& sink) {
  std::vector<Event> events;
  const auto hand_on = [&] {
    sink.consume(events);
    events.clear();
  };
  for (Cursor cursor(track, 0); cursor.next_of_track();) {
    const Timestamp time{cursor.time()};
    if (cursor.token() == Token::kEnter) {
      events.push_back({time, EventKind::kEnter, cursor.frame().region, 0});
    } else if (cursor.token() == Token::kLeave) {
      events.push_back({time, EventKind::kLeave, cursor.frame().region, 0});
    } else if (cursor.token() == Token::kOther && is_mpi(cursor.other().kind)) {
      events.push_back(cursor.other());
    } else if (cursor.token() == Token::kSwitch && !cursor.off()) {
      events.push_back({time, EventKind::kRecordingOn, 0, 0});
    }
    if (events.size() >= kBatch) hand_on();
  }
  hand_on();
}

class Collector final : public profile::MessageListener {
 public:
  Collector(std::vector<Bundle>& messages, std::vector<Gathering>& gatherings)
      : messages_(messages), gatherings_(gatherings) {}

  void message(const profile::MessageChannel& channel, const profile::MessageEnd& sent,
               const profile::MessageEnd& received) override {
    Bundle one;
    one.sent = one.last_sent = sent.time;
    one.received = one.last_received = received.time;
    one.bytes = sent.bytes;
    const profile::MessageWaits waits = profile::waits_of(sent, received);
    one.waited_sender = waits.sender;
    one.waited_receiver = waits.receiver;
    one.from_track = sent.location;
    one.to_track = received.location;
    one.communicator = channel.communicator;
    one.tag = channel.tag;
    messages_.push_back(one);
  }

  void collective(std::uint32_t communicator,
                  std::span<const profile::CollectiveVisit> visits) override {
    for (const profile::CollectiveVisit& visit : visits) {
      Gathering one;
      one.begin = visit.entered;
      one.end = visit.left;
      one.waited = visit.waited;
      one.sent = visit.sent;
      one.received = visit.received;
      one.track = visit.location;
      one.communicator = communicator;
      one.kind = static_cast<std::uint32_t>(visit.kind);
      one.operation = operations_;
      gatherings_.push_back(one);
    }
    ++operations_;
  }

 private:
  std::vector<Bundle>& messages_;
  std::vector<Gathering>& gatherings_;
  std::uint32_t operations_ = 0;
};

// Joins neighbours of the same key.
template <typename Item, typename Key>
void join_equal(std::vector<std::pair<Key, Item>>& items) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (kept > 0 && items[kept - 1].first == items[i].first) {
      items[kept - 1].second.join(items[i].second);
    } else {
      items[kept++] = items[i];
    }
  }
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(kept), items.end());
}

// The index of the part of the range in which the item starts; the page computes the same.
template <typename Item>
std::uint32_t column_of(const Item& item, const MessageQuestion& question) {
  if (item.time() <= question.from) return 0;
  const auto since = static_cast<double>(item.time() - question.from);
  const auto span = static_cast<double>(question.to - question.from);
  return static_cast<std::uint32_t>(
      std::min(since * question.columns / span, static_cast<double>(question.columns - 1)));
}

template <typename Item>
Bundled<Item> bundled(const std::vector<Item>& all, const MessageQuestion& question) {
  Bundled<Item> result;
  const auto wanted = [&](const Item& item) {
    return item.touches(question.from, question.to) && question.asks_for(item);
  };
  result.count = static_cast<std::uint64_t>(std::ranges::count_if(all, wanted));
  if (result.count <= question.limit) {
    std::ranges::copy_if(all, std::back_inserter(result.items), wanted);
    return result;
  }
  using Key = std::pair<std::uint32_t, decltype(Item().place())>;
  const auto by_key = [](const auto& one) -> const Key& { return one.first; };
  std::vector<std::pair<Key, Item>> items;
  for (const Item& item : all) {
    if (wanted(item)) items.push_back({{column_of(item, question), item.place()}, item});
  }
  std::ranges::stable_sort(items, {}, by_key);
  join_equal(items);
  for (std::uint32_t columns = question.columns; columns > 1 && items.size() > question.limit;
       columns /= 2) {
    for (auto& [key, item] : items) key.first /= 2;
    std::ranges::stable_sort(items, {}, by_key);
    join_equal(items);
  }
  if (items.size() > question.limit) {
    result.complete = false;
    std::ranges::stable_sort(items, std::ranges::greater(),
                             [](const auto& one) { return one.second.count; });
    items.resize(question.limit);
    std::ranges::stable_sort(items, {}, by_key);
  }
  for (const auto& [key, item] : items) result.items.push_back(item);
  return result;
}

}  // namespace

void Bundle::join(const Bundle& other) noexcept {
  if (other.sent < sent) communicator = other.communicator, tag = other.tag;
  count += other.count;
  sent = std::min(sent, other.sent);
  last_sent = std::max(last_sent, other.last_sent);
  received = std::min(received, other.received);
  last_received = std::max(last_received, other.last_received);
  bytes += other.bytes;
  waited_sender += other.waited_sender;
  waited_receiver += other.waited_receiver;
}

void Gathering::join(const Gathering& other) noexcept {
  count += other.count;
  begin = std::min(begin, other.begin);
  end = std::max(end, other.end);
  waited += other.waited;
  sent += other.sent;
  received += other.received;
}

Messages::Messages(const Index& index, const Definitions& definitions,
                   std::span<const std::uint64_t> ends) {
  const std::uint64_t total = std::accumulate(ends.begin(), ends.end(), std::uint64_t{0});
  if (total == 0) return;
  complete_ = total <= kMostEnds;
  Collector collector(messages_, gatherings_);
  profile::MessageSink sink(&collector, [&](const Location& location) -> std::size_t {
    const auto place = static_cast<std::size_t>(&location - definitions.locations.data());
    if (complete_) return ends[place];
    // The same part of each track, from its start on.
    return static_cast<std::size_t>(static_cast<double>(ends[place]) / static_cast<double>(total) *
                                    static_cast<double>(kMostEnds));
  });
  sink.begin(definitions);
  std::vector<std::unique_ptr<LocationSink>> sinks(ends.size());
  for_each_in_parallel(ends.size(), std::max(1u, std::thread::hardware_concurrency()),
                       [&](std::size_t i) {
                         if (ends[i] == 0) return;
                         sinks[i] = sink.open_location(definitions.locations[i]);
                         replay(*index.track(static_cast<std::uint32_t>(i)), *sinks[i]);
                       });
  // In order, so that messages are matched in the same way each time.
  for (auto& one : sinks) {
    if (one) one->finish();
    one.reset();
  }
  sink.finish();
  unmatched_ = sink.summary().unmatched;
  backwards_ = sink.summary().backwards;
  std::ranges::stable_sort(messages_, {}, [](const Bundle& one) {
    return std::tuple(one.sent, one.from_track, one.to_track, one.received);
  });
  std::ranges::stable_sort(gatherings_, {},
                           [](const Gathering& one) { return std::tuple(one.begin, one.track); });
}

Bundled<Bundle> bundles_in(const Messages& messages, const MessageQuestion& question) {
  return bundled(messages.all(), question);
}

Bundled<Gathering> gatherings_in(const Messages& messages, const MessageQuestion& question) {
  return bundled(messages.gatherings(), question);
}

Bundled<Pair> matrix_of(const Messages& messages, const Definitions& definitions,
                        const MessageQuestion& question) {
  std::map<profile::ProcessPair, Pair> pairs;
  Bundled<Pair> result;
  for (const Bundle& one : messages.all()) {
    if (one.sent < question.from || one.sent >= question.to || !question.asks_for(one)) continue;
    const std::uint32_t sender = definitions.locations[one.from_track].group.value();
    const std::uint32_t receiver = definitions.locations[one.to_track].group.value();
    Pair& pair = pairs[{sender, receiver}];
    pair.sender = sender;
    pair.receiver = receiver;
    ++pair.count;
    pair.bytes += one.bytes;
    pair.waited_sender += one.waited_sender;
    pair.waited_receiver += one.waited_receiver;
    ++result.count;
  }
  for (const auto& [key, pair] : pairs) result.items.push_back(pair);
  if (result.items.size() <= question.limit) return result;
  result.complete = false;
  std::ranges::stable_sort(result.items, std::ranges::greater(), &Pair::bytes);
  result.items.resize(question.limit);
  std::ranges::sort(result.items, {},
                    [](const Pair& pair) { return std::pair(pair.sender, pair.receiver); });
  return result;
}

}  // namespace timeloom::view
