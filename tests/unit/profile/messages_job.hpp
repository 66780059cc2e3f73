// Runs of processes that call MPI, for the tests of messages and operations.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "core/mpi/communicator_groups.hpp"
#include "profile/messages.hpp"

namespace timeloom::profile {

inline constexpr std::uint32_t kWorld = 0;
inline constexpr std::uint32_t kSelf = 1;  // of each process

// A run of some processes with one thread each, all in one communicator, or in an intercommunicator
// whose first group has `first` processes.
class Job {
 public:
  explicit Job(std::uint32_t processes, std::uint32_t first = 0) {
    definitions_.regions.resize(2);
    Communicator world;
    for (std::uint32_t i = 0; i < processes; ++i) {
      definitions_.groups.emplace_back();
      Location location;
      location.id = LocationId{i};
      location.group = LocationGroupId{i};
      definitions_.locations.push_back(location);
      if (i == first && first != 0) world.members.push_back(kSecondGroup);
      world.members.push_back(location.id);
    }
    definitions_.communicators.push_back(world);
    definitions_.communicators.emplace_back().self = true;
    events_.resize(processes);
  }

  // Assigns later events to this communicator.
  Job& in(std::uint32_t communicator) {
    communicator_ = communicator;
    return *this;
  }
  Job& only_mpi(const char* name = "MPI_Function") {
    definitions_.regions[0].name = name;
    definitions_.regions[0].paradigm = Paradigm::kMpi;
    return *this;
  }
  // A further thread; in its events its index stands for the process.
  std::uint32_t thread_of(std::uint32_t process) {
    Location location;
    location.id = LocationId{events_.size()};
    location.group = LocationGroupId{process};
    definitions_.locations.push_back(location);
    events_.emplace_back();
    return static_cast<std::uint32_t>(events_.size() - 1);
  }
  Job& lost(const char* what) {
    definitions_.properties[what] = "1";
    return *this;
  }
  // Another region beside the two.
  std::uint32_t mpi(const char* name) {
    definitions_.regions.emplace_back().name = name;
    definitions_.regions.back().paradigm = Paradigm::kMpi;
    return static_cast<std::uint32_t>(definitions_.regions.size() - 1);
  }
  Job& enter(std::uint32_t process, std::uint64_t time, std::uint32_t region = 0) {
    return add(process, time, EventKind::kEnter, region);
  }
  Job& leave(std::uint32_t process, std::uint64_t time) {
    return add(process, time, EventKind::kLeave);
  }
  Job& message(std::uint32_t process, std::uint64_t time, EventKind kind, std::uint32_t peer,
               std::uint64_t bytes, std::uint64_t request = 0, std::uint32_t tag = 7) {
    events_[process].push_back(
        operand(Timestamp{time}, OperandKind::kPeerAndTag, pair_of(peer, tag)));
    events_[process].push_back(operand(Timestamp{time}, OperandKind::kRequest, request));
    return add(process, time, kind, communicator_, bytes);
  }
  Job& collective(std::uint32_t process, std::uint64_t from, std::uint64_t to, CollectiveKind kind,
                  std::uint32_t root = kNoRoot) {
    enter(process, from);
    add(process, from, EventKind::kMpiCollectiveBegin);
    events_[process].push_back(operand(Timestamp{to}, OperandKind::kPeerAndTag,
                                       pair_of(static_cast<std::uint32_t>(kind), root)));
    events_[process].push_back(operand(Timestamp{to}, OperandKind::kReceived, 20));
    return add(process, to, EventKind::kMpiCollectiveEnd, communicator_, 10).leave(process, to);
  }
  Job& add(std::uint32_t process, std::uint64_t time, EventKind kind, std::uint32_t ref = 0,
           std::uint64_t value = 0) {
    events_[process].push_back({Timestamp{time}, kind, ref, value});
    return *this;
  }

  MessageSummary summary(MessageListener* listener = nullptr, MessageSink::Limit limit = {}) const {
    MessageSink sink(listener, std::move(limit));
    sink.begin(definitions_);
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const auto location = sink.open_location(definitions_.locations[i]);
      location->consume(events_[i]);
      location->finish();
    }
    sink.finish();
    return sink.summary();
  }

 private:
  Definitions definitions_;
  std::vector<std::vector<Event>> events_;
  std::uint32_t communicator_ = kWorld;
};

inline std::uint64_t waited(const MessageSummary& summary, std::uint32_t process, WaitKind kind) {
  const auto found = summary.waits.find(process);
  return found == summary.waits.end() ? 0 : found->second[static_cast<std::size_t>(kind)].time;
}

struct Listened final : MessageListener {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> bytes;  // sent, received
  std::vector<std::pair<std::size_t, std::size_t>> places;     // of these
  std::vector<std::vector<CollectiveVisit>> operations;

  void message(const MessageChannel& channel, const MessageEnd& sent,
               const MessageEnd& received) override {
    EXPECT_EQ(channel.sender, sent.process);
    EXPECT_EQ(channel.receiver, received.location);
    bytes.emplace_back(sent.bytes, received.bytes);
    places.emplace_back(sent.place, received.place);
  }
  void collective(std::uint32_t, std::span<const CollectiveVisit> visits) override {
    operations.emplace_back(visits.begin(), visits.end());
  }
};

}  // namespace timeloom::profile
