// The functions of one-sided communication. Records the bytes that the calling process puts into
// the memory of another process, or gets from there, when the call has started the transfer;
// contract as in point_to_point.hpp.
#pragma once

#include "preload/mpi/point_to_point.hpp"

namespace timeloom::mpi::one_sided {

// False for MPI_PROC_NULL, and for a call that has failed.
bool moves(int result, int target) noexcept;
void put_moved(std::uint64_t put, std::uint64_t got) noexcept;
// The bytes of the origin buffer, which MPI_NO_OP does not use.
std::uint64_t bytes_for(Handle op, Count count, Handle datatype) noexcept;

// Put, Accumulate, and their forms with a request.
template <typename Real, typename Size, typename... More>
int put(Call&, Real real, const void* origin, Size count, Handle datatype, int target,
        More... more) {
  const int result = real(origin, count, datatype, target, more...);
  if (moves(result, target)) put_moved(bytes_of(count, datatype), 0);
  return result;
}

template <typename Real, typename Size, typename... More>
int get(Call&, Real real, void* origin, Size count, Handle datatype, int target, More... more) {
  const int result = real(origin, count, datatype, target, more...);
  if (moves(result, target)) put_moved(0, bytes_of(count, datatype));
  return result;
}

template <typename Real, typename Size, typename... More>
int get_accumulate(Call&, Real real, const void* origin, Size count, Handle datatype, void* got,
                   Size got_count, Handle got_datatype, int target, Aint disp, Size target_count,
                   Handle target_datatype, Handle op, More... more) {
  const int result = real(origin, count, datatype, got, got_count, got_datatype, target, disp,
                          target_count, target_datatype, op, more...);
  if (moves(result, target))
    put_moved(bytes_for(op, count, datatype), bytes_of(got_count, got_datatype));
  return result;
}

template <typename Real>
int fetch_and_op(Call&, Real real, const void* origin, void* got, Handle datatype, int target,
                 Aint disp, Handle op, Handle win) {
  const int result = real(origin, got, datatype, target, disp, op, win);
  if (moves(result, target)) put_moved(bytes_for(op, 1, datatype), bytes_of(1, datatype));
  return result;
}

// The bytes of the value to compare with are not counted.
template <typename Real>
int compare_and_swap(Call&, Real real, const void* origin, const void* compared, void* got,
                     Handle datatype, int target, Aint disp, Handle win) {
  const int result = real(origin, compared, got, datatype, target, disp, win);
  if (moves(result, target)) put_moved(bytes_of(1, datatype), bytes_of(1, datatype));
  return result;
}

}  // namespace timeloom::mpi::one_sided
