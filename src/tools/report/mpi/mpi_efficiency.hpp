// How well the processes of a run of MPI are used, in the factors of the POP project; docs/mpi.md
// has the formulas.
//
// Plain values made from a CallTree and the messages of a trace. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "profile/messages.hpp"

namespace timeloom::tools {

// Times are seconds. The thread that is in MPI for longest stands for its process; its work is the
// time outside of MPI.
struct MpiEfficiency {
  std::size_t processes = 0;  // that call MPI
  double runtime = 0;
  double mean_work = 0, most_work = 0;
  std::uint32_t busiest = 0;  // the process with the most, in Definitions::groups
  double load_balance = 1, communication = 1;
  // On an ideal network; nothing where it is not known.
  std::optional<double> ideal_runtime, serialisation, transfer;

  double parallel() const noexcept { return load_balance * communication; }
};

// None: no process calls MPI.
std::optional<MpiEfficiency> mpi_efficiency(const profile::CallTree& tree,
                                            const profile::MessageSummary& messages = {});

// By call path, whether it is in MPI; the functions of MPI themselves are.
std::vector<bool> paths_in_mpi(const profile::CallTree& tree);

}  // namespace timeloom::tools
