// The objects of compiled code that are mapped in this process, for samples at addresses that
// belong to no region.
#pragma once

namespace timeloom::record {

// Defines the mapped objects that the running measurement has not defined yet, if objects were
// loaded since the call before. One thread at a time. Where memory is short or, without `wait`,
// another thread has the mutex of the measurement, it does nothing, and the next call tries again.
void define_mapped_objects(bool wait) noexcept;

}  // namespace timeloom::record
