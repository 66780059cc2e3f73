#include "profile/messages.hpp"

#include <algorithm>
#include <tuple>

namespace timeloom::profile {
namespace {

// Whether earlier events may be missing without a sign in the events themselves. Beyond a size
// limit, only the last events are.
bool may_miss_events(const Definitions& definitions) {
  const auto& properties = definitions.properties;
  const auto has = [&](const char* key) { return properties.contains(key); };
  return has("timeloom::attached") || has("timeloom::older_events") ||
         has("timeloom::dropped_events") || has("timeloom::damaged_segments") ||
         (has("timeloom::lost_events") && !has("timeloom::size_limit"));
}

// What each visit of an operation waits for, and until when.
class Awaited {
 public:
  explicit Awaited(std::span<const CollectiveVisit> visits) {
    for (const CollectiveVisit& visit : visits) {
      last_ = std::max(last_, visit.entered);
      std::uint64_t& of_side = visit.root ? root_ : last_of_others_;
      of_side = std::max(of_side, visit.entered);
    }
  }
  std::optional<std::pair<WaitKind, std::uint64_t>> by(const CollectiveVisit& visit) const {
    if (visit.kind == CollectiveKind::kBarrier) return {{WaitKind::kBarrier, last_}};
    if (all_to_all(visit.kind)) return {{WaitKind::kAllToAll, last_}};
    if (one_to_all(visit.kind) && !visit.root) return {{WaitKind::kLateRoot, root_}};
    if (all_to_one(visit.kind) && visit.root) return {{WaitKind::kEarlyRoot, last_of_others_}};
    return std::nullopt;
  }

 private:
  std::uint64_t last_ = 0, root_ = 0, last_of_others_ = 0;
};

// As many messages were sent as received, and none was received before it was sent.
bool fit(const std::vector<MessageEnd>& sent, const std::vector<MessageEnd>& received) {
  return std::ranges::equal(sent, received, std::ranges::less_equal(), &MessageEnd::time,
                            &MessageEnd::time);
}

// Whether these can be one operation: no process leaves before the processes that it waits for have
// entered.
bool fit(std::span<const CollectiveVisit> visits) {
  const Awaited awaited(visits);
  return std::ranges::all_of(visits, [&](const CollectiveVisit& visit) {
    if (visit.kind != visits.front().kind) return false;
    const auto one = awaited.by(visit);
    return !one || !visit.blocks || visit.only_neighbours || one->second <= visit.left;
  });
}

}  // namespace

void MessageSink::begin(const Definitions& definitions) {
  definitions_ = &definitions;
  all_unsure_ = may_miss_events(definitions);
  std::uint32_t place = 0;
  for (const Location& location : definitions.locations) {
    places_[location.id] = {location.group.value(), place++};
  }
  for (const Region& region : definitions.regions) {
    is_mpi_.push_back(region.paradigm == Paradigm::kMpi);
    waits_unseen_.push_back(is_mpi_.back() && waits_unseen(region.name));
    only_neighbours_.push_back(is_mpi_.back() && only_neighbours(region.name));
    probes_.push_back(is_mpi_.back() && is_blocking_probe(region.name));
    reads_status_.push_back(is_mpi_.back() && reads_status(region.name));
  }
  for (const Communicator& one : definitions.communicators) {
    const auto communicator = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back(groups_of(one));
    for (const LocationId member : groups_.back().second) {
      const auto found = places_.find(member);
      if (found != places_.end()) second_group_.emplace(communicator, found->second.process);
    }
  }
}

// Between two groups, the rank is a rank of the other group.
std::uint32_t MessageSink::before_peers(std::uint32_t communicator, std::uint32_t process) const {
  if (communicator >= groups_.size() || !groups_[communicator].between) return 0;
  return members_before_peers(groups_[communicator],
                              second_group_.contains({communicator, process}));
}

// One definition stands for many communicators: each process is alone in its own.
bool MessageSink::is_self(std::uint32_t communicator) const noexcept {
  const auto& all = definitions_->communicators;
  return communicator < all.size() && all[communicator].self;
}

std::uint32_t MessageSink::process_at(std::uint32_t communicator, std::uint32_t rank,
                                      std::uint32_t own) const noexcept {
  if (communicator >= definitions_->communicators.size()) return kNobody;
  if (is_self(communicator)) return rank == 0 ? own : kNobody;
  const auto& members = definitions_->communicators[communicator].members;
  if (rank >= members.size()) return kNobody;
  const auto place = places_.find(members[rank]);
  return place == places_.end() ? kNobody : place->second.process;
}

void MessageSink::add_message(const MessageChannel& channel, bool sent, const MessageEnd& end) {
  Sides& sides = channels_[channel];
  (sent ? sides.first : sides.second).push_back(end);
}

void MessageSink::add_wait(std::uint32_t process, WaitKind kind, std::uint64_t time) {
  if (time == 0) return;
  std::vector<Wait>& waits = summary_.waits[process];
  waits.resize(kWaitKinds);
  Wait& wait = waits[static_cast<std::size_t>(kind)];
  ++wait.count;
  wait.time += time;
}

// The threads of a process one after the other, each in its own order.
template <typename Begun>
auto moment_of(const Begun& one, std::uint32_t location) noexcept {
  return std::tuple(one.began, location, one.order);
}

// Messages of one channel do not overtake each other: the first one sent goes to the receive that
// was started first.
void MessageSink::match(Sides& sides, const MessageChannel& channel) {
  auto& [sent, received] = sides;
  const auto moment = [](const MessageEnd& end) { return moment_of(end, end.location); };
  std::ranges::sort(sent, {}, moment);
  std::ranges::sort(received, {}, moment);
  std::size_t both = std::min(sent.size(), received.size());
  const bool unsure = is_unsure(channel.sender) || is_unsure(channel.receiver);
  if (both != 0 && unsure && !fit(sent, received)) {
    summary_.uncertain = true;
    both = 0;
  }
  summary_.unmatched += sent.size() + received.size() - 2 * both;
  Traffic& traffic = summary_.traffic[{channel.sender, channel.receiver}];
  for (const MessageEnd& end : sent) {
    ++traffic.messages;
    traffic.bytes += end.bytes;
    traffic.send_time += end.spent;
  }
  for (const MessageEnd& end : received) traffic.receive_time += end.spent;
  for (std::size_t i = 0; i < both; ++i) {
    compare(channel, sent[i], received[i]);
    if (listener_ != nullptr) continue;
    const MessageEnd& end = received[i];
    const std::uint32_t waits = is_probed(sent[i], end) ? end.probe_call : end.call;
    network_.add_dependency({process_call(sent[i].process, sent[i].call)},
                            {process_call(end.process, waits)});
  }
}

IdealNetwork::ProcessCall MessageSink::process_call(std::uint32_t process, std::uint32_t call) {
  if (call == kNoCall) obstacles_.insert("events of MPI lie outside of its functions");
  return {process, call};
}

// The processes of a collective operation wait for each other, also on an ideal network.
void MessageSink::connect(std::uint32_t communicator, const std::vector<CollectiveVisit>& visits) {
  const CollectiveKind kind = visits.front().kind;
  if (kind == CollectiveKind::kDestroyHandle) return;
  const auto& all = definitions_->communicators;
  const bool rooted = one_to_all(kind) || all_to_one(kind);
  const bool complete = communicator < all.size() &&
                        (is_self(communicator) ? visits.size() == 1
                                               : are_all(all[communicator], rooted, visits.size()));
  if (!complete) {
    obstacles_.insert("some processes are missing in a collective operation");
  }
  if (kind == CollectiveKind::kScan || kind == CollectiveKind::kExscan) {
    obstacles_.insert("MPI_Scan and MPI_Exscan wait for a part of the processes");
  }
  std::vector<IdealNetwork::ProcessCall> awaited, waiting;
  for (const CollectiveVisit& visit : visits) {
    if (visit.root || !one_to_all(kind))
      awaited.push_back(process_call(visit.process, visit.begun));
    if (visit.root || !all_to_one(kind))
      waiting.push_back(process_call(visit.process, visit.ended));
  }
  network_.add_dependency(awaited, waiting);
}

void MessageSink::compare(const MessageChannel& channel, const MessageEnd& sent,
                          const MessageEnd& received) {
  ++summary_.messages;
  if (received.time < sent.time) {
    ++summary_.backwards;
    summary_.most_backwards = std::max(summary_.most_backwards, sent.time - received.time);
  }
  const MessageWaits waits = waits_of(sent, received);
  add_wait(received.process, WaitKind::kLateSender, waits.receiver);
  add_wait(sent.process, WaitKind::kLateReceiver, waits.sender);
  if (listener_ != nullptr) listener_->message(channel, sent, received);
}

void MessageSink::compare(std::vector<CollectiveVisit>& visits) {
  if (visits.front().only_neighbours) return;
  const Awaited awaited(visits);
  for (CollectiveVisit& visit : visits) {
    const auto one = awaited.by(visit);
    if (!one) continue;
    visit.waits_for = one->first;
    const std::uint64_t until = std::min(one->second, visit.left);
    visit.waited = until > visit.entered ? until - visit.entered : 0;
    add_wait(visit.process, one->first, visit.waited);
  }
}

bool MessageSink::is_unsure(std::uint32_t process) const {
  return all_unsure_ || (paused_.contains(process) && takes_part_.contains(process));
}

// All processes call the operations of a communicator in the same order. Returned are the
// communicators of unsure processes whose operations do not fit together.
std::set<std::uint32_t> MessageSink::gather_visits() {
  std::set<std::uint32_t> unsure, uncertain;
  std::map<std::uint32_t, std::size_t> counts, processes;
  for (auto& [key, visits] : own_visits_) {
    const auto [communicator, process] = key;
    if (!is_self(communicator)) {
      if (is_unsure(process)) unsure.insert(communicator);
      const std::size_t others = counts.try_emplace(communicator, visits.size()).first->second;
      if (others != visits.size()) uncertain.insert(communicator);
      ++processes[communicator];
    }
    std::ranges::sort(visits, {},
                      [](const OwnVisit& one) { return moment_of(one, one.visit.location); });
    CollectiveKey operation{communicator, is_self(communicator) ? process : 0, 0};
    for (const OwnVisit& one : visits) {
      if (!one.apart) visits_[operation].push_back(one.visit);
      ++operation.before;
    }
    visits = {};
  }
  for (const std::uint32_t one : unsure) {
    const CommunicatorGroups& groups = groups_[one];
    if (processes[one] != groups.first.size() + groups.second.size()) uncertain.insert(one);
  }
  for (const auto& [key, visits] : visits_) {
    if (unsure.contains(key.communicator) && !fit(visits)) uncertain.insert(key.communicator);
  }
  std::erase_if(uncertain, [&](std::uint32_t one) { return !unsure.contains(one); });
  return uncertain;
}

void MessageSink::finish() {
  const std::set<std::uint32_t> uncertain = gather_visits();
  if (!uncertain.empty()) summary_.uncertain = true;
  for (auto& [channel, sides] : channels_) match(sides, channel);
  for (auto& [key, visits] : visits_) {
    if (uncertain.contains(key.communicator)) continue;
    if (visits.front().blocks) {
      compare(visits);
      if (listener_ != nullptr) listener_->collective(key.communicator, visits);
    }
    if (listener_ == nullptr) connect(key.communicator, visits);
  }
  channels_.clear();
  visits_.clear();
  if (std::ranges::any_of(takes_part_, [this](std::uint32_t one) { return is_unsure(one); })) {
    obstacles_.insert("calls of MPI may be missing, since recording was off or events are lost");
  }
  if (summary_.unmatched != 0) {
    obstacles_.insert("of some messages only the sender or the receiver is known");
  }
  if (listener_ != nullptr) return;
  if (obstacles_.empty()) {
    summary_.ideal_runtime = network_.runtime();
    if (!summary_.ideal_runtime) {
      summary_.not_ideal = "the clocks of the processes differ";
    } else if (*summary_.ideal_runtime == 0) {
      summary_.not_ideal = "all of the time is in MPI";
    }
  } else {
    summary_.not_ideal = *obstacles_.begin();
  }
  network_ = {};
}

}  // namespace timeloom::profile
