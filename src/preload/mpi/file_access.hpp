// The functions for MPI files, with the events recorded around each; contract as in
// point_to_point.hpp.
#pragma once

#include "preload/mpi/files.hpp"
#include "preload/mpi/point_to_point.hpp"

namespace timeloom::mpi::file_access {

// Also runs while nothing is measured: later calls refer to the file.
template <typename Real>
int open(Call&, Real real, Handle comm, const char* name, int mode, Handle info, void* file) {
  const int result = real(comm, name, mode, info, file);
  if (ok(result)) add_file(load_file(file), name, mode);
  return result;
}

template <typename Real>
int close(Call&, Real real, void* file) {
  const std::uint32_t begun = record::measurement_number();
  const IoHandleId handle = take_file(load_file(file));
  const int result = real(file);
  if (ok(result) && begun == record::measurement_number()) put_closed(handle);
  return result;
}

// `run` makes the transfer, and leaves the number of bytes in the status passed to it. If another
// measurement has started meanwhile, it has other handles.
template <typename Run>
int transfer(IoOperation operation, Handle file, std::uint64_t asked, void* given, Run run) {
  const IoHandleId handle = file_handle(file);
  if (!handle.defined()) return run(given);
  Status status(given);
  const std::uint32_t begun = record::measurement_number();
  put_begin(handle, operation, asked);
  const int result = run(status.get());
  if (begun == record::measurement_number()) put_end(handle, operation, result, status.get());
  return result;
}

template <IoOperation kOperation, typename Real, typename Buffer, typename Size>
int at_position(Call&, Real real, Handle file, Buffer buffer, Size count, Handle datatype,
                void* given) {
  return transfer(kOperation, file, bytes_of(count, datatype), given,
                  [&](void* status) { return real(file, buffer, count, datatype, status); });
}

template <IoOperation kOperation, typename Real, typename Buffer, typename Size>
int at_offset(Call&, Real real, Handle file, Count offset, Buffer buffer, Size count,
              Handle datatype, void* given) {
  return transfer(kOperation, file, bytes_of(count, datatype), given, [&](void* status) {
    return real(file, offset, buffer, count, datatype, status);
  });
}

// A non-blocking transfer counts when its request is complete.
template <typename Run>
int begin(IoOperation operation, Handle file, const void* request, Run run) {
  const IoHandleId handle = file_handle(file);
  const int result = run();
  if (ok(result) && handle.defined()) add_transfer(handle, operation, request);
  return result;
}

template <IoOperation kOperation, typename Real, typename Buffer, typename Size>
int begin_at_position(Call&, Real real, Handle file, Buffer buffer, Size count, Handle datatype,
                      void* request) {
  return begin(kOperation, file, request,
               [&] { return real(file, buffer, count, datatype, request); });
}

template <IoOperation kOperation, typename Real, typename Buffer, typename Size>
int begin_at_offset(Call&, Real real, Handle file, Count offset, Buffer buffer, Size count,
                    Handle datatype, void* request) {
  return begin(kOperation, file, request,
               [&] { return real(file, offset, buffer, count, datatype, request); });
}

// Collective transfers that consist of two calls.
template <typename Real, typename Buffer, typename Size>
int first_half(Call&, Real real, Handle file, Buffer buffer, Size count, Handle datatype) {
  note_asked(file, bytes_of(count, datatype));
  return real(file, buffer, count, datatype);
}

template <typename Real, typename Buffer, typename Size>
int first_half_at(Call&, Real real, Handle file, Count offset, Buffer buffer, Size count,
                  Handle datatype) {
  note_asked(file, bytes_of(count, datatype));
  return real(file, offset, buffer, count, datatype);
}

template <IoOperation kOperation, typename Real, typename Buffer>
int second_half(Call&, Real real, Handle file, Buffer buffer, void* given) {
  return transfer(kOperation, file, asked_of(file), given,
                  [&](void* status) { return real(file, buffer, status); });
}

template <typename Real>
int sync(Call&, Real real, Handle file) {
  const IoHandleId handle = file_handle(file);
  if (!handle.defined()) return real(file);
  const std::uint32_t begun = record::measurement_number();
  put_begin(handle, IoOperation::kFlush, kNoBytes);
  const int result = real(file);
  if (begun == record::measurement_number()) put_flushed(handle);
  return result;
}

}  // namespace timeloom::mpi::file_access
