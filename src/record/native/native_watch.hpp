// Finds the threads of this process that record nothing, and what CPU time each takes.
//
// Such threads never call the recorder. The drain looks at them from time to time, and whoever ends
// the measurement looks once more. A thread that ends before anybody has looked stays unknown: its
// time is in CpuTimes::other, and in the sum of no name.
//
// Owned by the state of the measurement, whose mutex guards it. Nothing throws.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/cpu_times.hpp"
#include "spool/writer.hpp"

namespace timeloom::record {

class NativeWatch {
 public:
  // Forgets all threads; what those that run have taken by now does not count.
  void begin() noexcept;
  // The thread has taken so much when it began to record.
  void begins_to_record(std::uint64_t id, std::uint64_t cpu_ns) noexcept;
  // A recorded thread is about to end; for a moment the kernel still lists it.
  void ends(std::uint64_t id) noexcept { ended_[next_ended_++ % ended_.size()] = id; }
  // Looks at the threads that the kernel lists, if those that record nothing have taken more than
  // at the last look: `other_ns` in all. `recorded`: the ids of the others. Makes system calls that
  // use descriptors.
  void look(std::uint64_t other_ns, std::span<const std::uint64_t> recorded) noexcept;
  bool wants_look(std::uint64_t other_ns) const noexcept;
  // Defines the sums of the names that have grown: by a sixteenth, so that a long run does not
  // define them again and again, or (`all`) at all.
  void tell(spool::Writer& writer, bool all) noexcept;

 private:
  struct Thread {
    std::string name;          // whose sum has its time; empty: none has, so far
    std::uint64_t before = 0;  // nanoseconds at the last look
    std::uint64_t added = 0;   // to the sum
    bool ours = false;
  };
  struct Sum : NativeThreads {
    std::uint64_t told_ns = 0;
  };
  void add(std::uint64_t id, Thread& thread, std::uint64_t cpu_ns);
  void rename(std::uint64_t id, Thread& thread);

  std::map<std::uint64_t, Thread> threads_;  // by id; the kernel listed them at the last look
  std::map<std::string, Sum> sums_;          // by name
  std::uint64_t seen_ns_ = 0;                // of all threads that record nothing, then
  std::array<std::uint64_t, 64> ended_{};
  std::size_t next_ended_ = 0;
};

}  // namespace timeloom::record
