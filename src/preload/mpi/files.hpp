// The MPI files that the program has opened, and their events.
//
// A file is identified by its MPI_File, which is a pointer in every library. A file opened while
// nothing was measured gets its handle in the trace at first use. Any thread; throws nothing:
// without memory a file is not recorded.
#pragma once

#include "core/io.hpp"
#include "preload/mpi/mpi_messages.hpp"

namespace timeloom::mpi {

// The MPI_File at that address.
Handle load_file(const void* place) noexcept;

// `mode`: as passed to MPI_File_open.
void add_file(Handle file, const char* name, int mode) noexcept;
// Called before the file is closed. Returns its handle in the current measurement, if any.
IoHandleId take_file(Handle file) noexcept;
// Undefined: the file is not recorded.
IoHandleId file_handle(Handle file) noexcept;

// Notes the number of bytes that a transfer in two calls (…_begin, …_end) requests; a file has one
// such transfer at a time.
void note_asked(Handle file, std::uint64_t bytes) noexcept;
std::uint64_t asked_of(Handle file) noexcept;

void put_closed(IoHandleId handle) noexcept;
void put_begin(IoHandleId handle, IoOperation operation, std::uint64_t asked) noexcept;
// The end of a transfer; one that has failed (`result`) counts no bytes.
void put_end(IoHandleId handle, IoOperation operation, int result, const void* status) noexcept;
void put_flushed(IoHandleId handle) noexcept;
// Both events, for a transfer whose request is complete.
void put_transferred(const Pending& pending, const void* status) noexcept;
// Remembers the request of a transfer that has started.
void add_transfer(IoHandleId handle, IoOperation operation, const void* request) noexcept;

}  // namespace timeloom::mpi
