#include "preload/mpi/neighbours.hpp"

namespace timeloom::mpi::neighbours {
namespace {

std::uint64_t count_of(int number) noexcept {
  return number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

// Two neighbours in each dimension.
Neighbours on_grid(Handle comm) noexcept {
  int dimensions = 0;
  real<int(Handle, int*)>(Function::kCartdim_get)(comm, &dimensions);
  Neighbours all;
  all.sources = all.targets = 2 * count_of(dimensions);
  for (int i = 0; i < dimensions && 2 * count_of(i) < Neighbours::kMostOnGrid; ++i) {
    int before = 0, after = 0;
    real<int(Handle, int, int, int*, int*)>(Function::kCart_shift)(comm, i, 1, &before, &after);
    if (before == abi()->proc_null) all.absent |= std::uint64_t{1} << 2 * i;
    if (after == abi()->proc_null) all.absent |= std::uint64_t{2} << 2 * i;
  }
  return all;
}

Neighbours in_graph(Handle comm) noexcept {
  int rank = 0, number = 0;
  real<int(Handle, int*)>(Function::kComm_rank)(comm, &rank);
  real<int(Handle, int, int*)>(Function::kGraph_neighbors_count)(comm, rank, &number);
  return {.sources = count_of(number), .targets = count_of(number)};
}

Neighbours in_distributed_graph(Handle comm) noexcept {
  int sources = 0, targets = 0, weighted = 0;
  real<int(Handle, int*, int*, int*)>(Function::kDist_graph_neighbors_count)(comm, &sources,
                                                                             &targets, &weighted);
  return {.sources = count_of(sources), .targets = count_of(targets)};
}

}  // namespace

Neighbours neighbours_of(Handle comm) noexcept {
  int topology = abi()->undefined;
  real<int(Handle, int*)>(Function::kTopo_test)(comm, &topology);
  if (topology == abi()->cart) return on_grid(comm);
  if (topology == abi()->graph) return in_graph(comm);
  if (topology == abi()->dist_graph) return in_distributed_graph(comm);
  return {};
}

}  // namespace timeloom::mpi::neighbours
