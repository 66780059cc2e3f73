// Tells in the spool of a forked child which calls are those of the handlers that Python has for
// forks. On the thread that was forked; nothing throws.
#pragma once

namespace timeloom::record {

// The measurement of the child has begun, and the handlers run. `may_be_all`: the child may end
// with them, without another step of the interpreter, or fork_handlers_ran() is called.
void fork_handlers_run(bool may_be_all) noexcept;
// They have ended.
void fork_handlers_ran() noexcept;

}  // namespace timeloom::record
