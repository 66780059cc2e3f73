#include "weave/message_balance.hpp"

#include <algorithm>
#include <map>

#include "core/mpi/communicator_groups.hpp"
#include "core/mpi/mpi_event.hpp"

namespace timeloom::weave {
namespace {

// The finalizer of splitmix64.
std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// Tells a process from others without using a number of the run.
std::uint64_t identity_of(const LocationGroup& process) {
  std::uint64_t hash = process.process_id;
  for (const char c : process.hostname) hash = mixed(hash + static_cast<unsigned char>(c));
  return hash;
}

// The place of a process in a communicator: members are numbered over both groups in one row.
struct Place {
  std::uint64_t own = 0;
  std::uint64_t before_peers = 0;  // the place of the process that events call rank 0
  std::uint64_t members = 0;       // 0: the place is not known
  std::uint64_t hash = 0;          // of the communicator; for one of a single process, of that
                                   // process too
};

}  // namespace

class MessageBalance::LocationBalance : public LocationSink {
 public:
  LocationBalance(MessageBalance& run, std::uint32_t process) : run_(run), process_(process) {}

  void consume(std::span<const Event> events) override {
    for (const Event& event : events) {
      if (operands_.take(event)) continue;
      switch (event.kind) {
        case EventKind::kMpiSend:
        case EventKind::kMpiIsend: add(event, true); break;
        case EventKind::kMpiRecv:
        case EventKind::kMpiIrecv: add(event, false); break;
        case EventKind::kRecordingOff: ends_.has_gaps = true; break;
        default: break;
      }
    }
  }

  void finish() override { run_.add(ends_); }

 private:
  void add(const Event& event, bool sent) {
    const auto [known, is_new] = places_.try_emplace(event.ref);
    if (is_new) known->second = place_in(event.ref);
    const Place& place = known->second;
    const std::uint64_t peer = place.before_peers + operands_.peer();
    if (peer >= place.members) {
      ends_.has_gaps = true;
      return;
    }
    const std::uint64_t from = sent ? place.own : peer, to = sent ? peer : place.own;
    std::uint64_t hash = place.hash;
    for (const std::uint64_t part : {std::uint64_t{operands_.tag()}, from, to}) {
      hash = mixed(hash + part);
    }
    ends_.sum += sent ? hash : -hash;
  }

  // Between two groups, the rank belongs to the group that does not contain this process.
  Place place_in(std::uint32_t communicator) const {
    if (communicator >= run_.definitions_->communicators.size()) return {};
    const Communicator& one = run_.definitions_->communicators[communicator];
    if (one.self) {
      const std::uint64_t process = identity_of(run_.definitions_->groups[process_]);
      return {0, 0, 1, mixed(process + one.identity)};
    }
    const auto own = std::ranges::lower_bound(run_.members_, Member{communicator, process_, 0});
    if (own == run_.members_.end()) return {};
    const auto [of, process, place] = *own;
    if (of != communicator || process != process_) return {};
    const CommunicatorGroups& groups = run_.groups_[communicator];
    return {place, members_before_peers(groups, place > groups.first.size()), one.members.size(),
            mixed(one.identity)};
  }

  MessageBalance& run_;
  const std::uint32_t process_;
  Operands operands_;
  std::map<std::uint32_t, Place> places_;  // by communicator
  Ends ends_;
};

bool MessageBalance::wanted(const Definitions& definitions) {
  return !definitions.communicators.empty();
}

void MessageBalance::begin(const Definitions& definitions) {
  definitions_ = &definitions;
  std::map<LocationId, std::uint32_t> processes;
  for (const Location& location : definitions.locations) {
    processes.emplace(location.id, location.group.value());
  }
  for (const Communicator& one : definitions.communicators) {
    const auto communicator = static_cast<std::uint32_t>(groups_.size());
    groups_.push_back(groups_of(one));
    for (std::size_t place = 0; place < one.members.size(); ++place) {
      const auto found = processes.find(one.members[place]);
      if (found != processes.end()) members_.push_back({communicator, found->second, place});
    }
  }
  std::ranges::sort(members_);
}

std::unique_ptr<LocationSink> MessageBalance::open_location(const Location& location) {
  return std::make_unique<LocationBalance>(*this, location.group.value());
}

void MessageBalance::add(const Ends& ends) noexcept {
  sum_ += ends.sum;
  if (ends.has_gaps) has_gaps_ = true;
}

}  // namespace timeloom::weave
