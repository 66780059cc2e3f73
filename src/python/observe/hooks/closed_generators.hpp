// Visits of generators that are closed while they wait in no try block.
//
// Closing runs such a generator only to let GeneratorExit through it. CPython may leave that out,
// and then no instrumenter sees it: 3.13.0 to 3.13.9 and 3.14.0 always do, later versions unless a
// tool of sys.monitoring is called for PY_UNWIND (and 3.15 may not know of a tool). A visit that
// nobody is told of is recorded here, so that visits do not depend on the version. Needs the GIL.
#pragma once

namespace timeloom::python {

// Begins, or ends, to record them where this interpreter always leaves them out. Throws nothing.
void watch_closing(bool on) noexcept;

}  // namespace timeloom::python
