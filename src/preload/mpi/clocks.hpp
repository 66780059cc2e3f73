// Compares the clocks of the hosts of a job with that of rank 0, at the begin and at the end.
//
// Called by all ranks, between MPI_Init and MPI_Finalize; one rank of each host takes part in the
// comparison, in a binary tree, so that the messages of a rank grow with the logarithm of the
// hosts. On one host nothing is compared: its processes share a clock. Nor is it without the user's
// word that all ranks of the job have these wrappers (TIMELOOM_COMPARE_CLOCKS=on).
#pragma once

#include <cstdint>

namespace timeloom::mpi {

class HostClocks {
 public:
  // Finds the hosts. Without memory or with one host there is nothing to compare.
  void begin() noexcept;
  // Notes the offset of this host's clock in the measurement, if there is something to compare.
  void compare() noexcept;

 private:
  std::uintptr_t leaders_ = 0;  // a communicator of one rank of each host; 0: not of this rank
  int rank_ = 0, size_ = 0;     // in it
};

}  // namespace timeloom::mpi
