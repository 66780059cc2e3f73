// Code shared by the wrappers of C's streams. A stream without a descriptor, for example in memory,
// is not a file: its calls are regions without handles. Any thread; nothing throws.
#pragma once

#include <stdio.h>

#include <cerrno>

#include "preload/io/io_functions.hpp"
#include "preload/io/io_handles.hpp"

namespace timeloom::preload {

// REQUIRES: a valid stream. -1: it has no descriptor. Keeps errno.
inline int descriptor_of(FILE* stream) noexcept {
  if (stream == nullptr) return -1;
  const int error = errno;
  const int descriptor = ::fileno_unlocked(stream);
  errno = error;
  return descriptor;
}

// Negative: it has no position. Keeps errno. REQUIRES: outside of a WrapperScope, since it may wait
// for the stream's lock, and a stream of fopencookie() calls functions of the program.
inline off64_t position_of(FILE* stream) noexcept {
  const int error = errno;
  const off64_t position = ::ftello64(stream);
  errno = error;
  return position;
}

// `bytes`: computes the number of bytes from a result.
template <typename Call, typename Bytes>
[[gnu::noinline]] auto transfer_by(StdioFunction which, IoOperation operation, const void* caller,
                                   FILE* stream, std::uint64_t asked, Call call, Bytes bytes) {
  const int descriptor = descriptor_of(stream);
  if (record::is_own_descriptor(descriptor)) return call();
  const auto find = [&] { return stream_of(descriptor); };
  return transfer_around(function_of(which), caller, {operation, asked}, find, call, bytes);
}

}  // namespace timeloom::preload
