// The handles of open descriptors and streams in the current measurement.
//
// A table indexed by descriptor; a stream is found by its descriptor. An entry contains the number
// of the measurement with the handle, so that handles of an earlier measurement, or of a forked
// process's parent, are ignored. A file that was opened before recording gets its handle at first
// use. Any thread; nothing throws. REQUIRES: inside a WrapperScope that is wanted(), unless a
// function's comment states otherwise.
#pragma once

#include <cstdint>

#include "core/definitions.hpp"
#include "core/io.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {

// The handle of an open descriptor; undefined: no memory for one.
IoHandleId handle_of(int descriptor) noexcept;
// The handle of the stream on this descriptor; undefined for a stream without one (-1).
IoHandleId stream_of(int descriptor) noexcept;

struct ClosedHandles {
  IoHandleId descriptor{};  // undefined: it had none
  IoHandleId stream{};
};
// Called before the descriptor is closed: removes and returns its handles. Callable anywhere.
ClosedHandles take_handles(int descriptor) noexcept;
// Called before a call without a region closes the descriptor. REQUIRES: outside of a WrapperScope.
void destroy_handles(int descriptor, const void* caller) noexcept;
// Called when descriptors from `first` to `last` are closed. Callable anywhere.
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

// From the flags of open().
IoAccess access_of(int flags) noexcept;
std::uint32_t creation_of(int flags) noexcept;
std::uint32_t status_of(int flags) noexcept;
// From a mode of fopen().
int flags_of_mode(const char* mode) noexcept;

}  // namespace timeloom::preload
