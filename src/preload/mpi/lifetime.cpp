#include "lifetime.hpp"

#include "clocks.hpp"

namespace timeloom::mpi {
namespace {

// Used by the thread that calls MPI_Init and MPI_Finalize.
constinit HostClocks g_clocks;

// The event that ends MPI_Init, or MPI_Finalize.
void put_end(CollectiveKind kind) noexcept {
  const Communicator* const world = defined_communicator(abi()->world);
  if (world != nullptr) put_collective_end(*world, {kind, abi()->world}, {});
}

}  // namespace

void put_communicator(ExtendedKind kind, Handle comm) noexcept {
  const Communicator* const one = defined_communicator(comm);
  if (one != nullptr) put(kind, {one->id});
}

void begin_job() noexcept {
  if (abi() == nullptr) return;
  put_communicator(ExtendedKind::kCommCreate, abi()->world);
  put_communicator(ExtendedKind::kCommCreate, abi()->self);
  put_end(CollectiveKind::kCreateHandle);
  g_clocks.begin();
  g_clocks.compare();
}

void end_job() noexcept {
  if (abi() == nullptr || communicator(abi()->world) == nullptr) return;
  g_clocks.compare();
  put(ExtendedKind::kMpiCollectiveBegin, {});
  put_communicator(ExtendedKind::kCommDestroy, abi()->world);
  put_communicator(ExtendedKind::kCommDestroy, abi()->self);
  put_end(CollectiveKind::kDestroyHandle);
}

}  // namespace timeloom::mpi
