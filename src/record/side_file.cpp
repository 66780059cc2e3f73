#include "record/side_file.hpp"

#include <mutex>

#include "record/measurement_state.hpp"

namespace timeloom::record {

KnownDirectory running_spool() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return active() ? s.writer->directory() : KnownDirectory();
}

}  // namespace timeloom::record
