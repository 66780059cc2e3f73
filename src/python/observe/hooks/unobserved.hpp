// While this lives, the calling thread is not observed: nothing that it runs is recorded or seen by
// the instrumenters, nor by the program's own trace and profile functions and tools of
// sys.monitoring. Nests. Needs the GIL.
//
// For questions to objects of the program (their representation, their names). A frame hook would
// be called for the functions that answer, and ask again: a __repr__ without an end.
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
