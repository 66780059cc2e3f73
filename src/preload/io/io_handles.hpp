// The handles of open descriptors and streams in the running measurement.
//
// A table by descriptor; a stream is found by the descriptor that it has. An entry holds the number
// of the measurement with the handle, so that those of an earlier one, or of the parent of a forked
// process, count for nothing. What was opened unseen gets its handle when it is used first. Any
// thread; nothing throws. REQUIRES: inside a WrapperScope that is wanted(), unless a function says
// otherwise.
#pragma once

#include "core/definitions.hpp"
#include "core/io.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {

// The handle of an open descriptor; undefined: there is no room for one.
IoHandleId handle_of(int descriptor) noexcept;
// The same of the stream upon this descriptor; undefined for a stream without one (-1).
IoHandleId stream_of(int descriptor) noexcept;

struct ClosedHandles {
  IoHandleId descriptor{};  // undefined: it had none
  IoHandleId stream{};
};
// The descriptor is about to be closed: its handles, which it has no more. Anywhere.
ClosedHandles take_handles(int descriptor) noexcept;
// A call without a region is about to close the descriptor. Outside of a WrapperScope.
void destroy_handles(int descriptor, const void* caller) noexcept;
// Those from `first` to `last` are closed. Anywhere.
void forget_handles(unsigned first, unsigned last) noexcept;

// ---- Events of handles

void put_destroyed(record::WrapperScope& scope, const ClosedHandles& closed) noexcept;

struct Seek {
  std::int64_t asked;
  int whence;  // SEEK_SET and so on
  std::int64_t reached;
};
// Does nothing for an undefined handle.
void put_seek(record::WrapperScope& scope, IoHandleId handle, const Seek& seek) noexcept;

// Handles of a descriptor that has just been opened.
IoHandleId new_handle(int descriptor, IoHandleId parent = {}) noexcept;
IoHandleId new_stream(int descriptor) noexcept;

// The bits of the flags of open().
IoAccess access_of(int flags) noexcept;
std::uint32_t creation_of(int flags) noexcept;
std::uint32_t status_of(int flags) noexcept;
// Those that a mode of fopen() stands for.
int flags_of_mode(const char* mode) noexcept;

}  // namespace timeloom::preload
