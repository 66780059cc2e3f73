// What the processes of a run said to each other, from its events: who sent how much to whom, who
// waited for whom, and whether a message came before it was sent.
//
// MessageSink follows the rules of RunSink; the rest is for one thread, after finish(). Memory
// grows with the number of messages. docs/mpi.md has the formulas of waiting.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/event.hpp"
#include "core/mpi_event.hpp"
#include "profile/ideal_network.hpp"

namespace timeloom::profile {

// A process, by its place in Definitions::groups.
using ProcessPair = std::pair<std::uint32_t, std::uint32_t>;  // sender, receiver

struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

// Times are ticks; by the process that waits.
enum class WaitKind : std::uint8_t {
  kLateSender,    // receives before the message is sent
  kLateReceiver,  // sends, and is held until it is received
  kBarrier,       // at a barrier, for the last
  kAllToAll,      // at an operation that all take part in, for the last
  kLateRoot,      // for the root of an operation from one to all
  kEarlyRoot,     // the root, of an operation from all to one
};
inline constexpr std::size_t kWaitKinds = 6;
const char* name_of(WaitKind kind) noexcept;

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
  std::uint64_t messages = 0;        // whose sender and receiver are known
  std::uint64_t unmatched = 0;       // sent and never received, or the other way round
  std::uint64_t backwards = 0;       // received before they were sent
  std::uint64_t most_backwards = 0;  // ticks
  // Ticks of the run on an ideal network; nothing: `not_ideal` says why, if there are calls of MPI.
  std::optional<std::uint64_t> ideal_runtime;
  std::string not_ideal;
};

class MessageSink final : public RunSink {
 public:
  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override;

  const MessageSummary& summary() const { return summary_; }

 private:
  class OneLocation;
  // One end of a message, with the region that sent or received it.
  struct End {
    std::uint64_t entered, left;  // the region
    std::uint64_t time;           // the event
    std::uint64_t order;          // among those of the location: of a receive, when it was begun
    std::uint64_t bytes;
    bool blocks;
    std::uint32_t process;
    std::uint32_t call;  // of those of the process in MPI
  };
  struct Channel {
    std::uint32_t communicator, sender, receiver, tag;  // processes
    auto operator<=>(const Channel&) const = default;
  };
  struct Visit {  // of one process, to a collective operation
    std::uint32_t process;
    std::uint64_t entered, left;
    CollectiveKind kind;
    bool root;
    bool blocks;
    std::uint32_t begun, ended;  // calls of the process in MPI
  };
  using Sides = std::pair<std::vector<End>, std::vector<End>>;  // sent, received

  std::uint32_t process_at(std::uint32_t communicator, std::uint32_t rank) const noexcept;
  void add_message(const Channel& channel, bool sent, const End& end);
  void match(Sides& sides, const Channel& channel);
  void compare(const End& sent, const End& received);
  void compare(const std::vector<Visit>& visits);
  IdealNetwork::Place place_of(std::uint32_t process, std::uint32_t call);
  void connect(std::uint32_t communicator, const std::vector<Visit>& visits);
  void add_wait(std::uint32_t process, WaitKind kind, std::uint64_t time);

  const Definitions* definitions_ = nullptr;
  std::mutex mutex_;
  std::map<Channel, Sides> channels_;
  // By communicator and how many were there before in it.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Visit>> visits_;
  std::map<LocationId, std::uint32_t> processes_;
  std::vector<bool> is_mpi_, waits_unseen_;  // regions
  IdealNetwork network_;
  std::set<std::string> obstacles_;  // to an ideal network
  MessageSummary summary_;
};

}  // namespace timeloom::profile
