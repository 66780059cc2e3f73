#include "record/fork_handlers.hpp"

#include <new>

#include "os/clock.hpp"
#include "record/measurement.hpp"
#include "record/thread_recorder.hpp"
#include "spool/fork_handlers_property.hpp"

namespace timeloom::record {

void fork_handlers_ran() noexcept try {
  const std::uint64_t visits = (t_recorder->aggregated_events() + t_recorder->depth()) / 2;
  note_property(kForkHandlers, ForkHandlers{os::now(), visits}.text());
} catch (const std::bad_alloc&) {
}

}  // namespace timeloom::record
