// The files of MPI that the program has opened, and the events of what it does with them.
//
// A file is known by its MPI_File, which is a pointer in every library. What was opened while
// nothing was measured gets a handle of the trace when it is used first. Any thread; throws
// nothing: without memory a file is not recorded.
#pragma once

#include "core/io.hpp"
#include "preload/mpi/mpi_messages.hpp"

namespace timeloom::mpi {

// The MPI_File at that place.
Handle load_file(const void* place) noexcept;

// `mode`: as MPI_File_open has it.
void add_file(Handle file, const char* name, int mode) noexcept;
// It is about to be closed. The handle that it has in the running measurement, if any.
IoHandleId take_file(Handle file) noexcept;
// Undefined: nothing is recorded of it.
IoHandleId file_handle(Handle file) noexcept;

// The bytes that a transfer in two calls (…_begin, …_end) asks for: a file has one at a time.
void note_asked(Handle file, std::uint64_t bytes) noexcept;
std::uint64_t asked_of(Handle file) noexcept;

void put_closed(IoHandleId handle) noexcept;
void put_begin(IoHandleId handle, IoOperation operation, std::uint64_t asked) noexcept;
// Of a call that has failed: no bytes.
void put_end(IoHandleId handle, IoOperation operation, int result, const void* status) noexcept;
void put_flushed(IoHandleId handle) noexcept;
// Both, of one whose request is complete.
void put_transferred(const Pending& pending, const void* status) noexcept;
// Remembers the request of one that has begun.
void add_transfer(IoHandleId handle, IoOperation operation, const void* request) noexcept;

}  // namespace timeloom::mpi
