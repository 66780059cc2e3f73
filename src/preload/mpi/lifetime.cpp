#include "lifetime.hpp"

namespace timeloom::mpi {
namespace {

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
}

void end_job() noexcept {
  if (abi() == nullptr || communicator(abi()->world) == nullptr) return;
  put(ExtendedKind::kMpiCollectiveBegin, {});
  put_communicator(ExtendedKind::kCommDestroy, abi()->world);
  put_communicator(ExtendedKind::kCommDestroy, abi()->self);
  put_end(CollectiveKind::kDestroyHandle);
}

}  // namespace timeloom::mpi
