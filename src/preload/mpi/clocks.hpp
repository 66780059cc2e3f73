// Compares the clocks of the hosts of a job with the clock of rank 0, at the start and at the end.
//
// Called by all ranks, between MPI_Init and MPI_Finalize. One rank of each host takes part, in a
// binary tree, so that the messages of a rank grow with the logarithm of the number of hosts.
// Nothing is compared on one host, whose processes share a clock. On several hosts the user has to
// state that all ranks of the job use these wrappers (TIMELOOM_COMPARE_CLOCKS=on). Throws nothing.
#pragma once

#include <cstdint>

namespace timeloom::mpi {

class HostClocks {
 public:
  // Finds the hosts. Without memory, or with a single host, nothing will be compared.
  void begin() noexcept;
  // Notes the offset of this host's clock in the measurement, if there are several hosts.
  void compare() noexcept;

 private:
  std::uintptr_t leaders_ = 0;  // a communicator of one rank per host; 0: this rank is not in it
  int rank_ = 0, size_ = 0;     // in it
};

}  // namespace timeloom::mpi
