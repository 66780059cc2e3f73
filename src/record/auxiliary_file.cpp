#include "record/auxiliary_file.hpp"

#include <mutex>

#include "record/measurement_state.hpp"

namespace timeloom::record {

KnownDirectory running_spool() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return active() ? s.writer->directory() : KnownDirectory();
}

std::uint64_t most_bytes() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return active() ? s.writer->most_bytes() : 0;
}

bool packs_early() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return active() && s.writer->packs_early();
}

void count_lost(std::uint64_t events) noexcept {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (active()) s.writer->count_lost(events);
}

}  // namespace timeloom::record
