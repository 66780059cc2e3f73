#include "weave/message_balance.hpp"

#include "core/communicator_groups.hpp"
#include "core/mpi_event.hpp"

namespace timeloom::weave {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;

// The finalizer of splitmix64.
std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

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
        case EventKind::kRecordingOff: has_gaps_ = true; break;
        default: break;
      }
    }
  }

  void finish() override {
    run_.sum_ += sum_;
    if (has_gaps_) run_.has_gaps_ = true;
  }

 private:
  void add(const Event& event, bool sent) {
    const std::uint32_t peer = process_at(event.ref, operands_.peer());
    if (peer == kNobody) has_gaps_ = true;
    const std::uint64_t ends = sent ? pair_of(process_, peer) : pair_of(peer, process_);
    const std::uint64_t hash = mixed(mixed(pair_of(event.ref, operands_.tag())) + ends);
    sum_ += sent ? hash : -hash;
  }

  // Between two groups the rank is one of the group that this process is not in.
  std::uint32_t process_at(std::uint32_t communicator, std::uint32_t rank) {
    if (communicator >= run_.definitions_->communicators.size()) return kNobody;
    const Communicator& one = run_.definitions_->communicators[communicator];
    if (one.self) return process_;
    const auto [known, is_new] = before_peers_.try_emplace(communicator, 0);
    if (is_new) {
      known->second = members_before_peers(
          one, [this](LocationId member) { return process_of(member) == process_; });
    }
    const std::uint64_t place = std::uint64_t{rank} + known->second;
    return place < one.members.size() ? process_of(one.members[place]) : kNobody;
  }

  std::uint32_t process_of(LocationId member) const {
    const auto found = run_.processes_.find(member);
    return found == run_.processes_.end() ? kNobody : found->second;
  }

  MessageBalance& run_;
  const std::uint32_t process_;
  Operands operands_;
  std::map<std::uint32_t, std::uint32_t> before_peers_;  // members, by communicator
  std::uint64_t sum_ = 0;
  bool has_gaps_ = false;
};

bool MessageBalance::wanted(const Definitions& definitions) {
  return !definitions.communicators.empty();
}

void MessageBalance::begin(const Definitions& definitions) {
  definitions_ = &definitions;
  for (const Location& location : definitions.locations) {
    processes_.emplace(location.id, location.group.value());
  }
}

std::unique_ptr<LocationSink> MessageBalance::open_location(const Location& location) {
  return std::make_unique<LocationBalance>(*this, location.group.value());
}

}  // namespace timeloom::weave
