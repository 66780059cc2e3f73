// Nothing that the calling thread runs is observed while this lives: not recorded, and not seen by
// the instrumenters either. Also not by trace and profile functions of the program and tools of
// sys.monitoring, as if it ran on behalf of one of these. Nests. Needs the GIL.
//
// For what we ask of objects of the program (their representation, their names). A frame hook
// would be called for the functions that answer, and ask again: a __repr__ without an end.
#pragma once

#include "python/interpreter/compat.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

class Unobserved {
 public:
  Unobserved() noexcept : thread_(PyThreadState_Get()) { PyThreadState_EnterTracing(thread_); }
  ~Unobserved() { PyThreadState_LeaveTracing(thread_); }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  const record::KeepOff not_recorded_;
  PyThreadState* thread_;
};

}  // namespace timeloom::python
