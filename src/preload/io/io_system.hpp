// Code shared by the wrappers of system calls on descriptors. Any thread; nothing throws.
#pragma once

#include "preload/io/io_functions.hpp"
#include "preload/io/io_handles.hpp"

namespace timeloom::preload {

// `call` transfers data on the descriptor; its result is the number of bytes, or an error.
template <typename Call>
[[gnu::noinline]] auto transfer_by(PosixFunction which, const void* caller, int descriptor,
                                   const Transfer& transfer, Call call) {
  if (record::is_own_descriptor(descriptor)) return call();
  const auto find = [&] { return handle_of(descriptor); };
  return transfer_around(function_of(which), caller, transfer, find, call, bytes_of);
}

}  // namespace timeloom::preload
