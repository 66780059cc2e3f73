// Summarises the messages between the processes of a run: the messages and bytes that each process
// sent to each other one, the processes that waited for each other, and which messages arrived
// before they were sent, by clocks that differ.
//
// MessageSink follows the rules of RunSink; the other functions are for one thread, after finish().
// Memory grows with the number of messages, up to the limit given. docs/mpi.md has the formulas of
// waiting.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/event.hpp"
#include "core/mpi/communicator_groups.hpp"
#include "core/mpi/mpi_event.hpp"
#include "profile/ideal_network.hpp"
#include "profile/message_kinds.hpp"

namespace timeloom::profile {

// Two processes, by their indices in Definitions::groups.
using ProcessPair = std::pair<std::uint32_t, std::uint32_t>;  // sender, receiver

struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  // Ticks in the sender's calls that send and complete the messages, and in the receiver's calls.
  std::uint64_t send_time = 0;
  std::uint64_t receive_time = 0;
};

// Times are ticks; by the process that waits.
struct Wait {
  std::uint64_t count = 0;
  std::uint64_t time = 0;
};

struct CollectiveTotals {
  std::uint64_t count = 0;  // of all processes together
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

struct MessageSummary {
  std::map<ProcessPair, Traffic> traffic;
  std::map<std::uint32_t, std::vector<Wait>> waits;  // by process, then by kind
  std::map<CollectiveKind, CollectiveTotals> collectives;
  std::uint64_t messages = 0;        // with known sender and receiver
  std::uint64_t unmatched = 0;       // sent and never received, or the other way round
  std::uint64_t backwards = 0;       // received before they were sent
  std::uint64_t most_backwards = 0;  // ticks
  // Earlier messages or operations of a process may be missing, so it is not known which sends and
  // receives belong together: these count in `unmatched`, and not in `waits`.
  bool uncertain = false;
  // Ticks of the run on an ideal network; none: `not_ideal` is the reason, if there are MPI calls.
  std::optional<std::uint64_t> ideal_runtime;
  std::string not_ideal;
};

// One end of a message, with the region that sent or received it.
struct MessageEnd {
  std::uint64_t entered = 0, left = 0;  // the region
  std::uint64_t time = 0;               // the event
  std::uint64_t spent = 0;  // its share of the calls that send, receive, test and complete it
  std::uint64_t began = 0;  // start of the call that started it
  std::uint64_t order = 0;  // its number among the location's ends, in order of their start
  std::uint64_t bytes = 0;
  std::uint64_t probe_entered = 0, probe_left = 0;  // if it is `probed`
  std::uint32_t process = 0;
  std::uint32_t location = 0;  // index in Definitions::locations
  std::size_t place = 0;       // among the sends and receives of its location, see is_message()
  std::uint32_t call = 0;      // its number among the process's MPI calls, see IdealNetwork
  std::uint32_t probe_call = 0;
  bool blocks = false;
  bool probed = false;  // a receive directly after a probe in which the location waited
};

struct MessageChannel {
  std::uint32_t communicator, sender, receiver, tag;  // processes
  auto operator<=>(const MessageChannel&) const = default;
};

// Whether the probe before the receive waited for this message, and not for another.
bool is_probed(const MessageEnd& sent, const MessageEnd& received) noexcept;

// Ticks for which the two sides of a message waited for each other.
struct MessageWaits {
  std::uint64_t receiver = 0;  // for a late sender
  std::uint64_t sender = 0;    // for a late receiver
};
MessageWaits waits_of(const MessageEnd& sent, const MessageEnd& received) noexcept;

// The part of one process in a collective operation.
struct CollectiveVisit {
  std::uint32_t process = 0;
  std::uint32_t location = 0;
  std::uint64_t entered = 0, left = 0;  // the region
  std::uint64_t sent = 0, received = 0;
  std::uint64_t waited = 0;  // for others
  std::optional<WaitKind> waits_for;
  CollectiveKind kind{};
  bool root = false;
  bool only_neighbours = false;  // a process waits for its neighbours only
  bool blocks = true;
  std::uint32_t begun = 0, ended = 0;  // numbers of MPI calls of the process, see IdealNetwork
};

// Called in finish() for each message with both ends, and for each blocking collective operation.
class MessageListener {
 public:
  virtual ~MessageListener() = default;
  virtual void message(const MessageChannel& channel, const MessageEnd& sent,
                       const MessageEnd& received) = 0;
  virtual void collective(std::uint32_t communicator, std::span<const CollectiveVisit> visits) = 0;
};

class MessageSink final : public RunSink {
 public:
  // The number of ends of messages, and of visits to collective operations, that are kept for a
  // location; later ones are left out.
  using Limit = std::function<std::size_t(const Location&)>;

  // With a listener the summary has no ideal runtime.
  explicit MessageSink(MessageListener* listener = nullptr, Limit limit = {})
      : listener_(listener), limit_(std::move(limit)) {}

  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override;

  const MessageSummary& summary() const { return summary_; }

 private:
  class OneLocation;                                    // message_location.cpp
  static constexpr std::uint32_t kNobody = UINT32_MAX;  // in place of a process
  static constexpr std::uint32_t kNoCall = UINT32_MAX;
  struct Place {
    std::uint32_t process, location;
  };
  using Sides = std::pair<std::vector<MessageEnd>, std::vector<MessageEnd>>;  // sent, received

  bool is_self(std::uint32_t communicator) const noexcept;
  // `own`: the process whose event has the rank.
  std::uint32_t process_at(std::uint32_t communicator, std::uint32_t rank,
                           std::uint32_t own) const noexcept;
  // The index, among the members, of rank 0 in the process's events.
  std::uint32_t before_peers(std::uint32_t communicator, std::uint32_t process) const;
  void add_message(const MessageChannel& channel, bool sent, const MessageEnd& end);
  void match(Sides& sides, const MessageChannel& channel);
  void compare(const MessageChannel& channel, const MessageEnd& sent, const MessageEnd& received);
  void compare(std::vector<CollectiveVisit>& visits);
  std::set<std::uint32_t> gather_visits();
  bool is_unsure(std::uint32_t process) const;
  IdealNetwork::ProcessCall process_call(std::uint32_t process, std::uint32_t call);
  void connect(std::uint32_t communicator, const std::vector<CollectiveVisit>& visits);
  void add_wait(std::uint32_t process, WaitKind kind, std::uint64_t time);

  MessageListener* listener_;
  Limit limit_;
  const Definitions* definitions_ = nullptr;
  std::mutex mutex_;
  std::map<MessageChannel, Sides> channels_;
  struct CollectiveKey {
    std::uint32_t communicator;
    std::uint32_t process;  // alone in it; 0: there are others
    std::uint64_t before;   // number of earlier operations in it
    auto operator<=>(const CollectiveKey&) const = default;
  };
  struct OwnVisit {
    std::uint64_t began, order;  // as in MessageEnd
    CollectiveVisit visit;
    bool apart;  // in the root's group of an intercommunicator, but not the root: it does not wait
  };
  // By communicator and process; all threads of a process together take part in an operation once.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<OwnVisit>> own_visits_;
  std::map<CollectiveKey, std::vector<CollectiveVisit>> visits_;
  std::map<LocationId, Place> places_;
  bool all_unsure_ = false;
  std::set<std::uint32_t> paused_;          // processes whose recording was off for a while
  std::set<std::uint32_t> takes_part_;      // processes with messages or operations
  std::vector<CommunicatorGroups> groups_;  // of the communicators
  std::set<std::pair<std::uint32_t, std::uint32_t>> second_group_;  // communicator, process in it
  std::vector<bool> is_mpi_, waits_unseen_, only_neighbours_, probes_, reads_status_;  // regions
  IdealNetwork network_;
  std::set<std::string> obstacles_;  // to an ideal network
  MessageSummary summary_;
};

// Whether the event is an end of a message.
constexpr bool is_message(EventKind kind) noexcept {
  return kind == EventKind::kMpiSend || kind == EventKind::kMpiIsend ||
         kind == EventKind::kMpiRecv || kind == EventKind::kMpiIrecv;
}

}  // namespace timeloom::profile
