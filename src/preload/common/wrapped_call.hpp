// The region of a wrapped call: its events are recorded between begin_call() and end_call(). Any
// thread; nothing throws.
#pragma once

#include "record/measurement.hpp"
#include "record/native/wrapper_interface.hpp"

// The return address of a wrapper, which identifies the caller's library.
#define CALLER __builtin_return_address(0)

namespace timeloom::preload {

// Enters the region. Returns the number of the measurement; 0: nothing is recorded.
inline std::uint32_t begin_call(record::WrappedFunction& function, const void* caller) noexcept {
  record::WrapperScope scope(caller);
  if (!scope.wanted()) return 0;
  scope.enter(function);
  return record::measurement_number();
}

// Leaves the region. REQUIRES: begin_call() has not returned 0.
inline void end_call(record::WrappedFunction& function) noexcept {
  record::WrapperScope(record::kAgain).leave(function);
}

struct LeftAtEnd {
  record::WrappedFunction& function;
  ~LeftAtEnd() { end_call(function); }
};

// Makes the call in its region, and records nothing else. Throws what the call throws.
template <typename Call>
auto region_around(record::WrappedFunction& function, const void* caller, Call call) {
  if (begin_call(function, caller) == 0) return call();
  const LeftAtEnd region{function};
  return call();
}

}  // namespace timeloom::preload
