// Tells in the spool of a forked child which calls are those of the handlers that Python has for
// forks. On the thread that was forked; nothing throws.
#pragma once

namespace timeloom::record {

// All handlers of the fork have run.
void fork_handlers_ran() noexcept;

}  // namespace timeloom::record
