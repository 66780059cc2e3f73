// The part of a MessageSink that follows one location.
#include <algorithm>
#include <limits>
#include <map>

#include "profile/messages.hpp"

namespace timeloom::profile {
namespace {

// The time from one to the other; 0 if `until` is earlier.
std::uint64_t between(std::uint64_t from, std::uint64_t until) noexcept {
  return until > from ? until - from : 0;
}

}  // namespace

// Follows the regions of one location; the messages of a region are passed on when it is left.
class MessageSink::OneLocation final : public LocationSink {
 public:
  OneLocation(MessageSink& sink, const Place& place, std::size_t most)
      : sink_(sink), process_(place.process), location_(place.location), most_(most) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      if (operands_.take(event)) continue;
      if (event.kind == EventKind::kRecordingOn) has_gap_ = true;
      if (own_.first == kNever) own_.first = last_ = ticks(event.time);
      if (event.kind == EventKind::kEnter) {
        enter(event.ref, ticks(event.time));
      } else if (event.kind == EventKind::kLeave) {
        leave(ticks(event.time));
      } else {
        other(event);
      }
    }
  }

  void finish() override {
    const std::lock_guard lock(sink_.mutex_);
    if (has_gap_) sink_.paused_.insert(process_);
    if (ends_.size() + visits_.size() != 0) sink_.takes_part_.insert(process_);
    for (auto& [channel, sent, end, slot, cancelled] : ends_) {
      if (cancelled) continue;
      end.spent = spent_[slot];
      sink_.add_message(channel, sent, end);
    }
    for (const auto& [communicator, visit] : visits_) {
      sink_.own_visits_[{communicator, process_}].push_back(visit);
    }
    add_calls();
    for (const auto& [kind, totals] : totals_) {
      CollectiveTotals& all = sink_.summary_.collectives[kind];
      all.count += totals.count;
      all.sent += totals.sent;
      all.received += totals.received;
    }
  }

 private:
  struct Message {
    MessageChannel channel;
    bool sent;
    MessageEnd end;
    std::size_t slot;  // in spent_
    bool cancelled = false;
  };
  struct Open {  // a region
    std::uint64_t entered;
    bool mpi;
    std::size_t first_part;  // in parts_
    bool only_neighbours, probe, reads_status;
  };
  struct Probe {
    std::uint64_t entered, left;
    std::uint32_t call;
  };
  struct Part {  // of a message, in the calls of one region
    std::size_t slot;
    std::size_t end;  // in ends_, or kNoEnd
  };
  struct Begun {  // a send or receive
    std::uint64_t time, order;
    std::size_t slot;
  };
  struct Began {  // an operation that does not block
    std::uint64_t time, order;
    std::uint32_t call;
  };

  static constexpr std::uint64_t kNever = UINT64_MAX;
  static constexpr std::size_t kNoEnd = SIZE_MAX;

  // Time in regions, without MPI regions.
  void work_until(std::uint64_t time) {
    if (!open_.empty() && inside_mpi_ == 0) own_.work_after += between(last_, time);
    last_ = time;
  }

  void enter(std::uint32_t region, std::uint64_t time) {
    work_until(time);
    const bool mpi = region < sink_.is_mpi_.size() && sink_.is_mpi_[region];
    if (mpi && inside_mpi_++ == 0 && sink_.listener_ == nullptr) {
      own_.calls.push_back({time, time, own_.work_after});
      own_.work_after = 0;
      if (sink_.waits_unseen_[region]) obstacles_.insert(region);
    }
    open_.push_back({time, mpi, parts_.size(), mpi && sink_.only_neighbours_[region],
                     mpi && sink_.probes_[region], mpi && sink_.reads_status_[region]});
  }

  // Operations that have started are still completed, so that the kept ends of a channel are
  // its first ones.
  bool is_full() const noexcept {
    return spent_.size() + visits_.size() + begun_collectives_.size() >= most_;
  }

  void leave(std::uint64_t time) {
    work_until(time);
    if (!open_.empty()) {
      if (open_.back().mpi) end_call(open_.back(), time);
      share(open_.back(), time);
      open_.pop_back();
    }
    for (; handed_visits_ < visits_.size(); ++handed_visits_) {
      visits_[handed_visits_].second.visit.left = time;
    }
  }

  void end_call(const Open& region, std::uint64_t time) {
    const std::uint32_t number = call();
    if (--inside_mpi_ != 0) return;
    if (!own_.calls.empty()) own_.calls.back().left = time;
    if (region.probe) {
      probe_ = {region.entered, time, number};
    } else if (!region.reads_status) {
      probe_.reset();
    }
  }

  // A message that a probe has found is there when the receive starts: all waiting was done in the
  // probe.
  void take_probe(Message& received) {
    if (!probe_ || inside_mpi_ == 0) return;
    received.end.probed = true;
    received.end.probe_entered = probe_->entered;
    received.end.probe_left = probe_->left;
    received.end.probe_call = probe_->call;
    spent_[received.slot] += between(probe_->entered, probe_->left);
    probe_.reset();
  }

  // The time of an MPI call is divided evenly among the messages that it sends, receives or
  // completes. The parts of inner calls are gone already: a region removes its own at its end.
  void share(const Open& region, std::uint64_t time) {
    const std::size_t all = parts_.size() - region.first_part;
    const std::uint64_t spent = between(region.entered, time);
    for (std::size_t i = 0; i < all; ++i) {
      const Part& part = parts_[region.first_part + i];
      if (region.mpi) spent_[part.slot] += spent / all + (i < spent % all ? 1 : 0);
      if (part.end != kNoEnd) ends_[part.end].end.left = time;
    }
    parts_.resize(region.first_part);
  }

  // A call that tests the same request again has one part for it.
  void add_part(std::size_t slot, std::size_t end = kNoEnd) {
    if (open_.empty()) return;
    const bool again = parts_.size() > open_.back().first_part && parts_.back().slot == slot;
    if (end == kNoEnd && (again || !open_.back().mpi || parts_.size() >= most_)) return;
    parts_.push_back({slot, end});
  }

  std::size_t new_slot() {
    spent_.push_back(0);
    return spent_.size() - 1;
  }

  // A call that tests a request, or has started the send of that request.
  void ask(std::uint64_t request, bool complete) {
    const auto sent = sending_.find(request);
    if (sent != sending_.end()) {
      add_part(ends_[sent->second].slot);
      if (complete) sending_.erase(sent);
    } else if (const auto begun = begun_.find(request); begun != begun_.end()) {
      add_part(begun->second.slot);
    }
  }

  // A send that was cancelled has no receive.
  void cancel(std::uint64_t request) {
    begun_.erase(request);
    const auto sent = sending_.find(request);
    if (sent == sending_.end()) return;
    ends_[sent->second].cancelled = true;
    sending_.erase(sent);
  }

  void add_calls() {
    for (const std::uint32_t region : obstacles_) {
      sink_.obstacles_.insert(sink_.definitions_->regions[region].name +
                              " waits for others, and no event says for whom");
    }
    if (own_.calls.empty() || sink_.network_.add_process(process_, std::move(own_))) return;
    sink_.obstacles_.insert("several threads of a process call MPI");
  }

  std::uint64_t entered(std::uint64_t time) const {
    return open_.empty() ? time : open_.back().entered;
  }
  std::uint32_t call() const {
    return inside_mpi_ == 0 || own_.calls.empty()
               ? kNoCall
               : static_cast<std::uint32_t>(own_.calls.size() - 1);
  }

  // By the name of the MPI function, if it is one.
  std::uint64_t begin_of(std::uint64_t time) const {
    return inside_mpi_ == 0 ? time : entered(time);
  }
  Begun begin_message(const Event& event) {
    return {begin_of(ticks(event.time)), ++order_, new_slot()};
  }
  Began begin_operation(const Event& event, std::uint32_t call) {
    return {begin_of(ticks(event.time)), ++order_, call};
  }

  void other(const Event& event) {
    full_ = full_ || is_full();
    const bool begins =
        event.kind != EventKind::kMpiIrecv && event.kind != EventKind::kMpiRequestCancelled &&
        event.kind != EventKind::kMpiIsendComplete && event.kind != EventKind::kMpiRequestTest;
    if (full_ && begins) return;
    switch (event.kind) {
      case EventKind::kMpiSend: return message(event, true, true, begin_message(event));
      case EventKind::kMpiIsend: {
        const Begun begun = begin_message(event);
        sending_[operands_.request()] = ends_.size();
        return message(event, true, false, begun);
      }
      case EventKind::kMpiRecv: return message(event, false, true, begin_message(event));
      case EventKind::kMpiIrecvRequest: {
        const Begun begun = begin_message(event);
        add_part(begun.slot);
        begun_[event.value] = begun;
        return;
      }
      case EventKind::kMpiIsendComplete: return ask(event.value, true);
      case EventKind::kMpiRequestTest: return ask(event.value, false);
      case EventKind::kMpiIrecv: {
        const auto found = begun_.find(operands_.request());
        if (full_ && found == begun_.end()) return;
        const Begun begun = found == begun_.end() ? begin_message(event) : found->second;
        if (found != begun_.end()) begun_.erase(found);
        return message(event, false, true, begun);
      }
      case EventKind::kMpiRequestCancelled: return cancel(event.value);
      case EventKind::kMpiCollectiveRequest:
        begun_collectives_[event.value] = begin_operation(event, call());
        return;
      case EventKind::kMpiCollectiveEnd:
        return collective(event, true, begin_operation(event, call()));
      case EventKind::kMpiCollectiveComplete: {
        const auto begun = begun_collectives_.find(operands_.request());
        const bool known = begun != begun_collectives_.end();
        const Began began = known ? begun->second : begin_operation(event, kNoCall);
        if (known) begun_collectives_.erase(begun);
        return collective(event, false, began);
      }
      default: return;
    }
  }

  void message(const Event& event, bool sent, bool blocks, const Begun& begun) {
    const std::uint32_t peer = process_at(event.ref, operands_.peer());
    const std::uint64_t time = ticks(event.time);
    const MessageChannel channel{event.ref, sent ? process_ : peer, sent ? peer : process_,
                                 operands_.tag()};
    add_part(begun.slot, ends_.size());
    ends_.push_back({channel,
                     sent,
                     {.entered = entered(time),
                      .left = time,
                      .time = time,
                      .began = begun.time,
                      .order = begun.order,
                      .bytes = event.value,
                      .process = process_,
                      .location = location_,
                      .place = ends_.size(),
                      .call = call(),
                      .blocks = blocks},
                     begun.slot});
    if (event.kind == EventKind::kMpiRecv) take_probe(ends_.back());
  }

  void collective(const Event& event, bool blocks, const Began& began) {
    CollectiveTotals& totals = totals_[operands_.operation()];
    ++totals.count;
    totals.sent += event.value;
    totals.received += operands_.received();
    const std::uint64_t time = ticks(event.time);
    const std::uint32_t rank = operands_.root();
    const bool root =
        rank == kOwnRoot || (rank != kNoRoot && process_at(event.ref, rank) == process_);
    CollectiveVisit visit;
    visit.process = process_;
    visit.location = location_;
    visit.entered = entered(time);
    visit.left = time;
    visit.sent = event.value;
    visit.received = operands_.received();
    visit.kind = operands_.operation();
    visit.root = root;
    visit.only_neighbours = !open_.empty() && open_.back().only_neighbours;
    visit.blocks = blocks;
    visit.begun = began.call;
    visit.ended = call();
    visits_.push_back({event.ref, {began.time, began.order, visit, rank == kRootInGroup}});
  }

  std::uint32_t process_at(std::uint32_t communicator, std::uint32_t rank) const {
    const std::uint32_t before = sink_.before_peers(communicator, process_);
    if (rank > kNobody - before) return kNobody;
    return sink_.process_at(communicator, rank + before, process_);
  }

  MessageSink& sink_;
  const std::uint32_t process_, location_;
  const std::size_t most_;
  bool full_ = false;
  bool has_gap_ = false;  // recording was off
  Operands operands_;
  std::vector<Open> open_;
  std::uint32_t inside_mpi_ = 0;  // open regions of MPI
  std::optional<Probe> probe_;    // the call of MPI before was one
  std::uint64_t last_ = 0;        // the last enter or leave
  IdealNetwork::Process own_{.first = kNever, .calls = {}, .work_after = 0};
  std::set<std::uint32_t> obstacles_;  // regions
  std::uint64_t order_ = 0;
  std::map<std::uint64_t, Begun> begun_;          // receives, by request
  std::map<std::uint64_t, std::size_t> sending_;  // places in ends_, by request
  std::vector<Message> ends_;
  std::vector<std::uint64_t> spent_;                        // in calls, by message
  std::vector<Part> parts_;                                 // of the open regions
  std::map<std::uint64_t, Began> begun_collectives_;        // by request
  std::vector<std::pair<std::uint32_t, OwnVisit>> visits_;  // by communicator
  std::size_t handed_visits_ = 0;
  std::map<CollectiveKind, CollectiveTotals> totals_;
};

std::unique_ptr<LocationSink> MessageSink::open_location(const Location& location) {
  const std::size_t most = limit_ ? limit_(location) : std::numeric_limits<std::size_t>::max();
  return std::make_unique<OneLocation>(*this, places_.at(location.id), most);
}

}  // namespace timeloom::profile
