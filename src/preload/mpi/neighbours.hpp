// The collective operations between neighbours of a topology, blocking and non-blocking; contract
// as in collectives.hpp.
//
// Data that a process sends or receives count once for each existing neighbour: docs/mpi.md has the
// formulas.
#pragma once

#include "preload/mpi/collectives.hpp"

namespace timeloom::mpi::neighbours {

using Kind = CollectiveKind;

// The neighbours of this process, in the order of their parts in a buffer. Neighbours beyond the
// edge of a grid have parts but do not exist.
struct Neighbours {
  static constexpr std::uint64_t kMostOnGrid = 64;  // limit for absent neighbours
  std::uint64_t sources = 0, targets = 0;
  std::uint64_t absent = 0;  // a bit for each
  bool is_there(std::uint64_t i) const noexcept {
    return i >= kMostOnGrid || (absent >> i & 1) == 0;
  }
};
Neighbours neighbours_of(Handle comm) noexcept;

// `bytes_at` returns the bytes of one part.
template <typename BytesAt>
std::uint64_t sum_of(const Neighbours& all, std::uint64_t parts, BytesAt bytes_at) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < parts; ++i) total += all.is_there(i) ? bytes_at(i) : 0;
  return total;
}

// `sent` and `received` return the bytes of a part.
template <typename When, typename Sent, typename Received, typename Run>
int exchange(When when, Kind kind, Handle comm, Sent sent, Received received, Run run) {
  const auto bytes = [&](Team) {
    const Neighbours all = neighbours_of(comm);
    return Bytes{sum_of(all, all.targets, sent), sum_of(all, all.sources, received)};
  };
  return collect(when, {kind, comm}, bytes, run);
}

template <typename Real, typename When, typename Size, typename... Request>
int allgather(Call&, Real real, When when, const void* sendbuf, Size sendcount, Handle sendtype,
              void* recvbuf, Size recvcount, Handle recvtype, Handle comm, Request... request) {
  return exchange(
      when, Kind::kAllgather, comm, [&](std::uint64_t) { return bytes_of(sendcount, sendtype); },
      [&](std::uint64_t) { return bytes_of(recvcount, recvtype); },
      [&] {
        return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request...);
      });
}

template <typename Real, typename When, typename Size, typename Displs, typename... Request>
int allgatherv(Call&, Real real, When when, const void* sendbuf, Size sendcount, Handle sendtype,
               void* recvbuf, const Size* recvcounts, Displs displs, Handle recvtype, Handle comm,
               Request... request) {
  return exchange(
      when, Kind::kAllgatherv, comm, [&](std::uint64_t) { return bytes_of(sendcount, sendtype); },
      [&](std::uint64_t i) { return bytes_of(recvcounts[i], recvtype); },
      [&] {
        return real(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
                    request...);
      });
}

template <typename Real, typename When, typename Size, typename... Request>
int alltoall(Call&, Real real, When when, const void* sendbuf, Size sendcount, Handle sendtype,
             void* recvbuf, Size recvcount, Handle recvtype, Handle comm, Request... request) {
  return exchange(
      when, Kind::kAlltoall, comm, [&](std::uint64_t) { return bytes_of(sendcount, sendtype); },
      [&](std::uint64_t) { return bytes_of(recvcount, recvtype); },
      [&] {
        return real(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request...);
      });
}

template <typename Real, typename When, typename Size, typename Displs, typename... Request>
int alltoallv(Call&, Real real, When when, const void* sendbuf, const Size* sendcounts,
              Displs sdispls, Handle sendtype, void* recvbuf, const Size* recvcounts,
              Displs rdispls, Handle recvtype, Handle comm, Request... request) {
  return exchange(
      when, Kind::kAlltoallv, comm,
      [&](std::uint64_t i) { return bytes_of(sendcounts[i], sendtype); },
      [&](std::uint64_t i) { return bytes_of(recvcounts[i], recvtype); },
      [&] {
        return real(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                    comm, request...);
      });
}

template <typename Real, typename When, typename Size, typename Displs, typename... Request>
int alltoallw(Call&, Real real, When when, const void* sendbuf, const Size* sendcounts,
              Displs sdispls, const void* sendtypes, void* recvbuf, const Size* recvcounts,
              Displs rdispls, const void* recvtypes, Handle comm, Request... request) {
  return exchange(
      when, Kind::kAlltoallw, comm,
      [&](std::uint64_t i) { return bytes_of(sendcounts[i], abi()->load(sendtypes, i)); },
      [&](std::uint64_t i) { return bytes_of(recvcounts[i], abi()->load(recvtypes, i)); },
      [&] {
        return real(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                    recvtypes, comm, request...);
      });
}

}  // namespace timeloom::mpi::neighbours
