// After a pause: makes what the recorders believe to be open agree with what is
// still running. Needs the GIL.
#pragma once

namespace timeloom::python {

// For every attached thread: regions whose functions have returned meanwhile
// are left now; functions that were entered meanwhile and are still running are
// noted, so that their leave is not taken for somebody else's. A function that
// returned and was called again from the same place counts as the same visit.
void reconcile_all_threads() noexcept;

}  // namespace timeloom::python
