// The functions that start and end MPI, and that create and free communicators; contract as in
// point_to_point.hpp. They also run while nothing is measured, since later calls refer to the
// communicators.
#pragma once

#include <tuple>

#include "preload/mpi/collectives.hpp"
#include "preload/mpi/spawn.hpp"

namespace timeloom::mpi {

// Called after MPI_Init and before MPI_Finalize: records the properties of the job, and the clocks
// of hosts.
void begin_job() noexcept;
void end_job() noexcept;

void put_communicator(ExtendedKind kind, Handle comm) noexcept;

template <typename Real, typename... Arguments>
int initialise(Call&, Real real, Arguments... arguments) {
  put(ExtendedKind::kMpiCollectiveBegin, {});
  const int result = real(arguments...);
  if (ok(result)) begin_job();
  return result;
}

template <typename Real>
int finalize(Call&, Real real) {
  end_job();
  return real();
}

// The function may not return.
template <typename Real>
int abort_job(Call&, Real real, Handle comm, int code) {
  if (!record::in_child_of_vfork()) {
    record::note_own_ending({EndingKind::kMpiAbort, static_cast<std::uint32_t>(code)});
  }
  return real(comm, code);
}

// `parent`, `made`: indices of these arguments.
template <typename Real, typename... Arguments>
int made(Call&, Real real, Handle parent, void* made, Arguments... arguments) {
  return collect(
      Now{}, {CollectiveKind::kCreateHandle, parent}, [](Team) { return Bytes{}; },
      [&] {
        const int result = real(arguments...);
        if (!ok(result) || abi() == nullptr) return result;
        add_child(parent, abi()->load(made));
        put_communicator(ExtendedKind::kCommCreate, abi()->load(made));
        return result;
      });
}

template <typename Real, typename... Arguments>
int made_between(Call&, Real real, Handle local_comm, Arguments... arguments) {
  const int result = real(local_comm, arguments...);
  if (!ok(result) || abi() == nullptr) return result;
  const void* const made = std::get<sizeof...(arguments) - 1>(std::tie(arguments...));
  add_between(local_comm, abi()->load(made));
  put_communicator(ExtendedKind::kCommCreate, abi()->load(made));
  return result;
}

// `run` starts the commands, which only the root knows, and creates `intercomm`.
template <typename Run>
int spawn(Handle comm, void* intercomm, Run run) {
  return collect(
      Now{}, {CollectiveKind::kCreateHandle, comm}, [](Team) { return Bytes{}; },
      [&] {
        SpawnedCommands commands(spawn_identity(comm));
        const int result = run(commands);
        if (!ok(result)) return result;
        add_spawned(comm, abi()->load(intercomm), commands.identity(), commands.number());
        put_communicator(ExtendedKind::kCommCreate, abi()->load(intercomm));
        return result;
      });
}

bool is_root(Handle comm, int root) noexcept;

template <typename Real>
int spawned(Call&, Real real, const char* command, void* argv, int maxprocs, Handle info, int root,
            Handle comm, void* intercomm, int* errcodes) {
  if (!is_followed()) return real(command, argv, maxprocs, info, root, comm, intercomm, errcodes);
  return spawn(comm, intercomm, [&](SpawnedCommands& commands) {
    SpawnedCommand one{command, static_cast<char**>(argv), info};
    if (is_root(comm, root)) one = commands.followed(one);
    return real(one.command, one.arguments, maxprocs, info, root, comm, intercomm, errcodes);
  });
}

template <typename Real>
int spawned_multiple(Call&, Real real, int count, void* commands, void* argv, const int* maxprocs,
                     const void* infos, int root, Handle comm, void* intercomm, int* errcodes) {
  const auto as_it_is = [&] {
    return real(count, commands, argv, maxprocs, infos, root, comm, intercomm, errcodes);
  };
  if (!is_followed()) return as_it_is();
  return spawn(comm, intercomm, [&](SpawnedCommands& all) {
    if (!is_root(comm, root)) return as_it_is();
    SpawnedLists lists(all, count, static_cast<char**>(commands), static_cast<char***>(argv),
                       infos);
    return real(count, lists.commands(), lists.arguments(), maxprocs, infos, root, comm, intercomm,
                errcodes);
  });
}

template <typename Real>
int made_by_group(Call&, Real real, Handle comm, Handle group, int tag, void* newcomm) {
  const int result = real(comm, group, tag, newcomm);
  if (!ok(result) || abi() == nullptr) return result;
  add_of_group(comm, abi()->load(newcomm));
  put_communicator(ExtendedKind::kCommCreate, abi()->load(newcomm));
  return result;
}

// The communicator is known when its request is complete.
template <typename Real, typename... Arguments>
int idup(Call&, Real real, Handle comm, void* newcomm, Arguments... arguments) {
  const int result = real(arguments...);
  if (!ok(result) || abi() == nullptr) return result;
  const void* const request = std::get<sizeof...(arguments) - 1>(std::tie(arguments...));
  add_request(abi()->load(request), {.kind = Pending::Kind::kCommunicator,
                                     .active = true,
                                     .number = next_request(),
                                     .made = newcomm,
                                     .identity = next_identity(comm),
                                     .parent = comm});
  return result;
}

template <typename Real>
int freed(Call&, Real real, void* comm) {
  const Handle handle = abi() == nullptr ? 0 : abi()->load(comm);
  return collect(
      Now{}, {CollectiveKind::kDestroyHandle, handle}, [](Team) { return Bytes{}; },
      [&] {
        if (abi() != nullptr) put_communicator(ExtendedKind::kCommDestroy, handle);
        // Callbacks for its attributes may still use it.
        const Communicator* const known = known_communicator(handle);
        const int result = real(comm);
        if (ok(result)) forget_communicator(handle, known);
        return result;
      });
}

template <typename Real>
int named(Call&, Real real, Handle comm, const char* comm_name) {
  const int result = real(comm, comm_name);
  if (ok(result) && abi() != nullptr) name_communicator(comm, comm_name);
  return result;
}

}  // namespace timeloom::mpi
