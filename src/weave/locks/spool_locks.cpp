// The part of SpoolSource for locks.
#include "weave/locks/lock_rows.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {

void SpoolSource::add_locks() {
  LockRows rows;
  for (Process& process : processes_) {
    if (process.locks.damaged) ++damaged_segments_;
    const auto location = [&](std::uint32_t index) {
      const LocationId id = location_id(process, index);
      return id.defined() ? id.value() : UINT64_MAX;
    };
    const auto duration = [&](std::uint64_t ticks) { return process.clock.duration(ticks); };
    const std::uint64_t last = std::max(process.locks.last, process.last_ticks);
    rows.add(process.locks, {process.group.value(), last, duration, location});
    process.locks = {};
  }
  put_locks(rows.take(), definitions_.properties);
}

}  // namespace timeloom::weave
