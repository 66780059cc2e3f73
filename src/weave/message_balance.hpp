// Checks that every MPI message in the events of a run has both ends: for each communicator,
// sender, receiver and tag, as many messages were received as sent.
//
// A sink like any other, fed under the same rules. It keeps sums of hash values, so memory does not
// grow with the messages. An unmatched end goes unnoticed only if two hashes of 64 bits are equal
// by chance. A hash depends only on values that the process of the event knows, so sums of parts of
// a run can be added. REQUIRES for complete() and ends(): all locations are finished. Throws only
// std::bad_alloc. Threads: as RunSink.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "core/event.hpp"
#include "core/mpi/communicator_groups.hpp"

namespace timeloom::weave {

class MessageBalance : public RunSink {
 public:
  struct Ends {
    std::uint64_t sum = 0;  // hashes of sent messages minus hashes of received ones
    bool has_gaps = false;  // recording was off, or a message's partner is not known
  };
  // Whether MPI was recorded.
  static bool wanted(const Definitions& definitions);

  void begin(const Definitions& definitions) override;
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override {}

  // Adds the message ends of processes that are not fed. Any thread.
  void add(const Ends& ends) noexcept;
  Ends ends() const noexcept { return {sum_, has_gaps_}; }
  bool complete() const noexcept { return sum_ == 0 && !has_gaps_; }

 private:
  class LocationBalance;

  const Definitions* definitions_ = nullptr;
  using Member = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;

  std::vector<Member> members_;             // communicator, process, its place; in order
  std::vector<CommunicatorGroups> groups_;  // of the communicators
  std::atomic<std::uint64_t> sum_ = 0;
  std::atomic<bool> has_gaps_ = false;
};

}  // namespace timeloom::weave
