// The collective operations, blocking (Now) and non-blocking (Later); contract as in
// point_to_point.hpp.
//
// The bytes that a process sends and receives are counted as Score-P counts them: docs/mpi.md has
// the formulas.
#pragma once

#include <climits>

#include "core/mpi/communicator_groups.hpp"
#include "preload/mpi/point_to_point.hpp"

namespace timeloom::mpi {

struct Now {};
struct Later {
  void* request;
};

struct Bytes {
  std::uint64_t sent = 0, received = 0;
};

// The processes of an operation, seen from one of them. `size` processes send to it or receive from
// it: all of the communicator or, for one between two groups, all of the other group.
struct Team {
  std::uint64_t size, rank;
  std::uint64_t own;  // of its group
  bool between;       // two groups
  bool is(int root) const noexcept {
    return between ? root == abi()->root : rank == static_cast<std::uint64_t>(root);
  }
  // True if its data go to the root, or come from there. Otherwise its arguments have no meaning.
  bool shares(int root) const noexcept { return !between || root >= 0; }
  bool is_in_place(int root, const void* buffer) const noexcept {
    return !between && is(root) && abi()->is_in_place(buffer);
  }
};
inline Team team_of(const Communicator& one) noexcept {
  return {one.inter() ? one.remote_size : one.size, one.rank, one.size, one.inter()};
}

inline constexpr int kNone = INT_MIN;  // no root

// The operation, without its request.
struct Operation {
  CollectiveKind kind;
  Handle comm;
  int root = kNone;
  std::uint32_t rank_of_root() const noexcept {
    if (root >= 0) return static_cast<std::uint32_t>(root);
    return root == kNone ? kNoRoot : root == abi()->root ? kOwnRoot : kRootInGroup;
  }
};

void put_collective_end(const Communicator& communicator, const Operation& operation,
                        Bytes bytes) noexcept;
void add_collective(Communicator& communicator, const Operation& operation, Bytes bytes,
                    void* request, std::uint64_t number) noexcept;

template <typename Count, typename Run>
int collect(Now, const Operation& operation, Count count, Run run) {
  const Communicator* const communicator = defined_communicator(operation.comm);
  if (communicator == nullptr) return run();
  const Bytes bytes = count(team_of(*communicator));
  const std::uint32_t begun = record::measurement_number();
  put(ExtendedKind::kMpiCollectiveBegin, {});
  const int result = run();
  if (begun == record::measurement_number()) put_collective_end(*communicator, operation, bytes);
  return result;
}

template <typename Count, typename Run>
int collect(Later later, const Operation& operation, Count count, Run run) {
  Communicator* const communicator = defined_communicator(operation.comm);
  if (communicator == nullptr) return run();
  const Bytes bytes = count(team_of(*communicator));
  const std::uint64_t number = next_request();
  put_request(ExtendedKind::kMpiCollectiveRequest, number);
  const int result = run();
  if (ok(result)) add_collective(*communicator, operation, bytes, later.request, number);
  return result;
}

// The bytes of all parts, which have one type.
inline std::uint64_t bytes_of_parts(std::uint64_t count, Handle datatype) noexcept {
  return bytes_of(static_cast<Count>(count), datatype);
}

template <typename Size>
std::uint64_t sum(const Size* counts, std::uint64_t size) noexcept {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < size; ++i) total += static_cast<std::uint64_t>(counts[i]);
  return total;
}

namespace collective {

using Kind = CollectiveKind;

inline bool in_place(const void* buffer) noexcept { return abi()->is_in_place(buffer); }

template <typename Real, typename When, typename... Request>
int barrier(Call&, Real real, When when, Handle comm, Request... request) {
  return collect(
      when, {Kind::kBarrier, comm}, [](Team) { return Bytes{}; },
      [&] { return real(comm, request...); });
}

template <typename Real, typename When, typename Size, typename... Request>
int bcast(Call&, Real real, When when, void* buffer, Size count, Handle datatype, int root,
          Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    if (!team.is(root) && !team.shares(root)) return Bytes{};
    const std::uint64_t size = bytes_of(count, datatype);
    return Bytes{team.is(root) ? team.size * size : 0, team.shares(root) ? size : 0};
  };
  return collect(when, {Kind::kBcast, comm, root}, bytes,
                 [&] { return real(buffer, count, datatype, root, comm, request...); });
}

template <typename Real, typename When, typename Size, typename... Request>
int gather(Call&, Real real, When when, const void* sendbuf, Size sendcount, Handle sendtype,
           void* recvbuf, Size recvcount, Handle recvtype, int root, Handle comm,
           Request... request) {
  const auto bytes = [&](Team team) {
    const bool kept = team.is_in_place(root, sendbuf);
    Bytes result{kept || !team.shares(root) ? 0 : bytes_of(sendcount, sendtype), 0};
    if (team.is(root)) result.received = (team.size - kept) * bytes_of(recvcount, recvtype);
    return result;
  };
  return collect(when, {Kind::kGather, comm, root}, bytes, [&] {
    return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request...);
  });
}

template <typename Real, typename When, typename Size, typename Displs, typename... Request>
int gatherv(Call&, Real real, When when, const void* sendbuf, Size sendcount, Handle sendtype,
            void* recvbuf, const Size* recvcounts, Displs displs, Handle recvtype, int root,
            Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    const bool kept = team.is_in_place(root, sendbuf);
    Bytes result{kept || !team.shares(root) ? 0 : bytes_of(sendcount, sendtype), 0};
    if (!team.is(root)) return result;
    const std::uint64_t own = kept ? static_cast<std::uint64_t>(recvcounts[team.rank]) : 0;
    result.received = bytes_of_parts(sum(recvcounts, team.size) - own, recvtype);
    return result;
  };
  return collect(when, {Kind::kGatherv, comm, root}, bytes, [&] {
    return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
                request...);
  });
}

template <typename Real, typename When, typename Size, typename... Request>
int scatter(Call&, Real real, When when, const void* sendbuf, Size sendcount, Handle sendtype,
            void* recvbuf, Size recvcount, Handle recvtype, int root, Handle comm,
            Request... request) {
  const auto bytes = [&](Team team) {
    const bool kept = team.is_in_place(root, recvbuf);
    Bytes result{0, kept || !team.shares(root) ? 0 : bytes_of(recvcount, recvtype)};
    if (team.is(root)) result.sent = (team.size - kept) * bytes_of(sendcount, sendtype);
    return result;
  };
  return collect(when, {Kind::kScatter, comm, root}, bytes, [&] {
    return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request...);
  });
}

template <typename Real, typename When, typename Size, typename Displs, typename... Request>
int scatterv(Call&, Real real, When when, const void* sendbuf, const Size* sendcounts,
             Displs displs, Handle sendtype, void* recvbuf, Size recvcount, Handle recvtype,
             int root, Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    const bool kept = team.is_in_place(root, recvbuf);
    Bytes result{0, kept || !team.shares(root) ? 0 : bytes_of(recvcount, recvtype)};
    if (!team.is(root)) return result;
    const std::uint64_t own = kept ? static_cast<std::uint64_t>(sendcounts[team.rank]) : 0;
    result.sent = bytes_of_parts(sum(sendcounts, team.size) - own, sendtype);
    return result;
  };
  return collect(when, {Kind::kScatterv, comm, root}, bytes, [&] {
    return real(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
                request...);
  });
}

template <typename Real, typename When, typename Size, typename... Request>
int allgather(Call&, Real real, When when, const void* sendbuf, Size sendcount, Handle sendtype,
              void* recvbuf, Size recvcount, Handle recvtype, Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    const std::uint64_t one = bytes_of(recvcount, recvtype);
    if (in_place(sendbuf)) return Bytes{(team.size - 1) * one, (team.size - 1) * one};
    return Bytes{team.size * bytes_of(sendcount, sendtype), team.size * one};
  };
  return collect(when, {Kind::kAllgather, comm}, bytes, [&] {
    return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request...);
  });
}

template <typename Real, typename When, typename Size, typename Displs, typename... Request>
int allgatherv(Call&, Real real, When when, const void* sendbuf, Size sendcount, Handle sendtype,
               void* recvbuf, const Size* recvcounts, Displs displs, Handle recvtype, Handle comm,
               Request... request) {
  const auto bytes = [&](Team team) {
    const std::uint64_t all = sum(recvcounts, team.size);
    if (!in_place(sendbuf)) {
      return Bytes{team.size * bytes_of(sendcount, sendtype), bytes_of_parts(all, recvtype)};
    }
    const auto own = static_cast<std::uint64_t>(recvcounts[team.rank]);
    return Bytes{bytes_of_parts((team.size - 1) * own, recvtype),
                 bytes_of_parts(all - own, recvtype)};
  };
  return collect(when, {Kind::kAllgatherv, comm}, bytes, [&] {
    return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
                request...);
  });
}

template <typename Real, typename When, typename Size, typename... Request>
int alltoall(Call&, Real real, When when, const void* sendbuf, Size sendcount, Handle sendtype,
             void* recvbuf, Size recvcount, Handle recvtype, Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    const std::uint64_t all = (team.size - in_place(sendbuf)) * bytes_of(recvcount, recvtype);
    return Bytes{all, all};
  };
  return collect(when, {Kind::kAlltoall, comm}, bytes, [&] {
    return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request...);
  });
}

template <typename Real, typename When, typename Size, typename Displs, typename... Request>
int alltoallv(Call&, Real real, When when, const void* sendbuf, const Size* sendcounts,
              Displs sdispls, Handle sendtype, void* recvbuf, const Size* recvcounts,
              Displs rdispls, Handle recvtype, Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    const std::uint64_t all = sum(recvcounts, team.size);
    if (!in_place(sendbuf)) {
      return Bytes{bytes_of_parts(sum(sendcounts, team.size), sendtype),
                   bytes_of_parts(all, recvtype)};
    }
    const std::uint64_t others =
        bytes_of_parts(all - static_cast<std::uint64_t>(recvcounts[team.rank]), recvtype);
    return Bytes{others, others};
  };
  return collect(when, {Kind::kAlltoallv, comm}, bytes, [&] {
    return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                comm, request...);
  });
}

// Each part has its own type.
template <typename Size>
std::uint64_t typed_sum(const Size* counts, const void* types, std::uint64_t size) noexcept {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < size; ++i) total += bytes_of(counts[i], abi()->load(types, i));
  return total;
}

template <typename Real, typename When, typename Size, typename Displs, typename... Request>
int alltoallw(Call&, Real real, When when, const void* sendbuf, const Size* sendcounts,
              Displs sdispls, const void* sendtypes, void* recvbuf, const Size* recvcounts,
              Displs rdispls, const void* recvtypes, Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    const std::uint64_t all = typed_sum(recvcounts, recvtypes, team.size);
    if (!in_place(sendbuf)) return Bytes{typed_sum(sendcounts, sendtypes, team.size), all};
    const std::uint64_t own = bytes_of(recvcounts[team.rank], abi()->load(recvtypes, team.rank));
    return Bytes{all - own, all - own};
  };
  return collect(when, {Kind::kAlltoallw, comm}, bytes, [&] {
    return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                comm, request...);
  });
}

template <typename Real, typename When, typename Size, typename... Request>
int reduce(Call&, Real real, When when, const void* sendbuf, void* recvbuf, Size count,
           Handle datatype, Handle op, int root, Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    if (!team.is(root) && !team.shares(root)) return Bytes{};
    const std::uint64_t size = bytes_of(count, datatype);
    const bool kept = team.is_in_place(root, sendbuf);
    return Bytes{kept || !team.shares(root) ? 0 : size,
                 team.is(root) ? (team.size - kept) * size : 0};
  };
  return collect(when, {Kind::kReduce, comm, root}, bytes, [&] {
    return real(sendbuf, recvbuf, count, datatype, op, root, comm, request...);
  });
}

template <typename Real, typename When, typename Size, typename... Request>
int allreduce(Call&, Real real, When when, const void* sendbuf, void* recvbuf, Size count,
              Handle datatype, Handle op, Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    const std::uint64_t all = (team.size - in_place(sendbuf)) * bytes_of(count, datatype);
    return Bytes{all, all};
  };
  return collect(when, {Kind::kAllreduce, comm}, bytes,
                 [&] { return real(sendbuf, recvbuf, count, datatype, op, comm, request...); });
}

template <typename Real, typename When, typename Size, typename... Request>
int reduce_scatter(Call&, Real real, When when, const void* sendbuf, void* recvbuf,
                   const Size* recvcounts, Handle datatype, Handle op, Handle comm,
                   Request... request) {
  const auto bytes = [&](Team team) {
    const std::uint64_t kept = in_place(sendbuf) ? 1 : 0;
    const auto own = static_cast<std::uint64_t>(recvcounts[team.rank]);
    return Bytes{bytes_of_parts(sum(recvcounts, team.own) - kept * own, datatype),
                 bytes_of_parts((team.size - kept) * own, datatype)};
  };
  return collect(when, {Kind::kReduceScatter, comm}, bytes, [&] {
    return real(sendbuf, recvbuf, recvcounts, datatype, op, comm, request...);
  });
}

template <typename Real, typename When, typename Size, typename... Request>
int reduce_scatter_block(Call&, Real real, When when, const void* sendbuf, void* recvbuf,
                         Size recvcount, Handle datatype, Handle op, Handle comm,
                         Request... request) {
  const auto bytes = [&](Team team) {
    const std::uint64_t all = (team.size - in_place(sendbuf)) * bytes_of(recvcount, datatype);
    return Bytes{all, all};
  };
  return collect(when, {Kind::kReduceScatterBlock, comm}, bytes,
                 [&] { return real(sendbuf, recvbuf, recvcount, datatype, op, comm, request...); });
}

template <typename Real, typename When, typename Size, typename... Request>
int scan(Call&, Real real, When when, const void* sendbuf, void* recvbuf, Size count,
         Handle datatype, Handle op, Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    const std::uint64_t size = bytes_of(count, datatype), kept = in_place(sendbuf) ? 1 : 0;
    return Bytes{(team.size - team.rank - kept) * size, (team.rank + 1 - kept) * size};
  };
  return collect(when, {Kind::kScan, comm}, bytes,
                 [&] { return real(sendbuf, recvbuf, count, datatype, op, comm, request...); });
}

template <typename Real, typename When, typename Size, typename... Request>
int exscan(Call&, Real real, When when, const void* sendbuf, void* recvbuf, Size count,
           Handle datatype, Handle op, Handle comm, Request... request) {
  const auto bytes = [&](Team team) {
    const std::uint64_t size = bytes_of(count, datatype);
    return Bytes{(team.size - team.rank - 1) * size, team.rank * size};
  };
  return collect(when, {Kind::kExscan, comm}, bytes,
                 [&] { return real(sendbuf, recvbuf, count, datatype, op, comm, request...); });
}

}  // namespace collective
}  // namespace timeloom::mpi
