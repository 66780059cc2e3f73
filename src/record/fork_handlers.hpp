// Marks in the spool of a forked child the calls of Python's fork handlers (os.register_at_fork).
// On the thread that was forked; nothing throws.
#pragma once

namespace timeloom::record {

// All handlers of the fork have run.
void fork_handlers_ran() noexcept;

}  // namespace timeloom::record
