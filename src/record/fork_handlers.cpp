#include "record/fork_handlers.hpp"

#include <cstddef>
#include <new>

#include "core/fork_handlers_property.hpp"
#include "os/clock.hpp"
#include "record/measurement.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::record {
namespace {

std::size_t g_depth = 0;  // of the regions that were open at the fork

}  // namespace

void fork_handlers_run(bool may_be_all) noexcept try {
  g_depth = t_recorder->depth();
  note_property(kForkHandlers, may_be_all ? std::string() : ForkHandlers{}.text());
} catch (const std::bad_alloc&) {
}

// A function that preexec_fn names may run already: then all of its calls count.
void fork_handlers_ran() noexcept try {
  ForkHandlers mark;
  const std::size_t depth = t_recorder->depth();
  if (depth <= g_depth) mark = {os::now(), (t_recorder->folded_events() + depth) / 2};
  note_property(kForkHandlers, mark.text());
} catch (const std::bad_alloc&) {
}

}  // namespace timeloom::record
