// What the processes of a run said to each other, from its events: who sent how much to whom, who
// waited for whom, and whether a message came before it was sent.
//
// MessageSink follows the rules of RunSink; the rest is for one thread, after finish(). Memory
// grows with the number of messages. docs/mpi.md has the formulas of waiting.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/event.hpp"
#include "core/mpi_event.hpp"

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

// As in the names of MPI's functions: "Allreduce".
const char* name_of(CollectiveKind kind) noexcept;

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
};

// Of one location, for each of its sends and receives in order: a number that both ends of a
// message have and no other message; 0 where the other end is not known.
using MessageNumbers = std::map<LocationId, std::vector<std::uint64_t>>;

class MessageSink final : public RunSink {
 public:
  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override;

  const MessageSummary& summary() const { return summary_; }
  const MessageNumbers& numbers() const { return numbers_; }

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
    LocationId location;
    std::size_t place;  // among the ends of its location
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
  };
  using Sides = std::pair<std::vector<End>, std::vector<End>>;  // sent, received

  std::uint32_t process_at(std::uint32_t communicator, std::uint32_t rank) const noexcept;
  void add_message(const Channel& channel, bool sent, const End& end);
  void match(Sides& sides, const Channel& channel);
  void compare(const End& sent, const End& received);
  void compare(const std::vector<Visit>& visits);
  void add_wait(std::uint32_t process, WaitKind kind, std::uint64_t time);

  const Definitions* definitions_ = nullptr;
  std::mutex mutex_;
  std::map<Channel, Sides> channels_;
  // By communicator and how many were there before in it.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Visit>> visits_;
  std::map<LocationId, std::uint32_t> processes_;
  MessageSummary summary_;
  MessageNumbers numbers_;
};

// Whether the event is an end of a message, of which MessageNumbers has a number.
constexpr bool is_message(EventKind kind) noexcept {
  return kind == EventKind::kMpiSend || kind == EventKind::kMpiIsend ||
         kind == EventKind::kMpiRecv || kind == EventKind::kMpiIrecv;
}

}  // namespace timeloom::profile
