// Where a task loop or a barrier that can be cancelled stands in the program: LLVM's runtime
// (versions 14 and 21 do) tells an address in its own entry point. Any thread; nothing throws.
#pragma once

namespace timeloom::ompt {

// `code`, or if it lies in such an entry point, the return address of its call. REQUIRES: that call
// is open on this thread. The result may lie in our own code, which has passed the call on.
const void* caller_of_entry_point(const void* code) noexcept;

}  // namespace timeloom::ompt
