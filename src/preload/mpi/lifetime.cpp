#include "preload/mpi/lifetime.hpp"

#include "preload/mpi/clocks.hpp"

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

bool is_root(Handle comm, int root) noexcept {
  const Communicator* const one = communicator(comm);
  return one != nullptr && one->rank == static_cast<std::uint32_t>(root);
}

namespace {

// For a spawned process: the communicator to the processes that spawned it.
void begin_spawned(const Spawn& spawn) noexcept {
  Handle parent = 0;
  real<int(void*)>(Function::kComm_get_parent)(&parent);
  if (abi()->handle(parent) == abi()->no_comm) return;
  add_spawned(0, parent, spawn.identity, spawn.number);
  put_communicator(ExtendedKind::kCommCreate, parent);
}

}  // namespace

void begin_job() noexcept {
  if (abi() == nullptr) return;
  int level = 0;
  if (ok(real<int(int*)>(Function::kQuery_thread)(&level)) && level > abi()->funneled) {
    record::note_mpi_on_threads();
  }
  put_communicator(ExtendedKind::kCommCreate, abi()->world);
  put_communicator(ExtendedKind::kCommCreate, abi()->self);
  put_end(CollectiveKind::kCreateHandle);
  // Clocks are compared with rank 0 of the run, which is not among these processes.
  if (const Spawn* const spawn = own_spawn()) return begin_spawned(*spawn);
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
