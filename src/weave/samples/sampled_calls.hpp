// Calls that are made of the stacks of samples: a function is entered before the first of its
// samples, earlier by the CPU time that this sample stands for, and left at the last of its samples
// in a row. Where a thread used no CPU time between two samples, it is in no function.
//
// Belongs to one reading of the stream of a thread; see ThreadReplay. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/event.hpp"
#include "spool/reader.hpp"
#include "spool/samples/sample_reader.hpp"
#include "weave/process_clock.hpp"

namespace timeloom::weave {

class SampledCalls {
 public:
  SampledCalls() = default;  // of a thread without samples
  // `data` and `definitions` of its process, which must live as long.
  SampledCalls(const spool::SampleData& data, const spool::ProcessDefinitions& definitions,
               const ProcessClock& clock, std::uint32_t location);

  // Puts the calls of the samples that were taken before an event of the batch in front of it, all
  // with the ids and ticks of the process. No such call is open around a recorded region.
  void merge(std::vector<Event>& batch);
  // The calls of the remaining samples, and the leaves of all calls that are still open.
  std::vector<Event> rest();

 private:
  void pass(std::uint64_t until);
  void take(const spool::ThreadSample& sample);
  void follow(std::uint64_t begin, const spool::ThreadSample& sample);
  void leave_to(std::size_t depth, std::uint64_t ticks);
  std::uint64_t in_ticks(std::uint64_t ns) const noexcept;
  void put(std::uint64_t ticks, EventKind kind, std::uint32_t ref, std::uint64_t value = 0);

  std::span<const spool::ThreadSample> samples_;  // not taken yet, in order of time
  const std::vector<std::uint32_t>* frames_ = nullptr;
  const spool::ProcessDefinitions* definitions_ = nullptr;
  double ticks_per_ns_ = 1;
  std::optional<std::uint32_t> metric_;
  std::vector<std::uint32_t> stack_;   // of the last sample
  std::vector<std::uint32_t> wanted_;  // of these, the regions that have a definition
  std::vector<std::uint32_t> open_;
  std::uint64_t last_ = 0;  // ticks of the last event or sample
  std::vector<Event> output_;
};

}  // namespace timeloom::weave
