// The wrapped I/O functions, and the code that their wrappers share.
//
// Any thread may call these functions; nothing throws.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "core/definitions.hpp"
#include "core/io.hpp"
#include "preload/common/wrapped_call.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {

// Regions have the names of the functions, without suffixes such as the 64 of large-file variants.
enum class PosixFunction : std::uint8_t {
  kOpen,
  kOpenat,
  kCreat,
  kClose,
  kRead,
  kWrite,
  kPread,
  kPwrite,
  kReadv,
  kWritev,
  kPreadv,
  kPwritev,
  kPreadv2,
  kPwritev2,
  kLseek,
  kDup,
  kDup2,
  kDup3,
  kFcntl,
  kFsync,
  kFdatasync,
  kSync,
  kSyncfs,
  kUnlink,
  kUnlinkat,
  kRemove,
  kSendfile,
  kCopyFileRange,
  kDprintf,
  kVdprintf,
  kLockf,
  kAioRead,
  kAioWrite,
  kAioFsync,
  kAioError,
  kAioSuspend,
  kAioReturn,
  kAioCancel,
  kLioListio
};
enum class StdioFunction : std::uint8_t {
  kFopen,
  kTmpfile,
  kFdopen,
  kFreopen,
  kFclose,
  kFread,
  kFwrite,
  kFgets,
  kFputs,
  kPuts,
  kFgetc,
  kGetc,
  kGetchar,
  kFputc,
  kPutc,
  kPutchar,
  kFprintf,
  kVfprintf,
  kPrintf,
  kVprintf,
  kFscanf,
  kVfscanf,
  kScanf,
  kVscanf,
  kGetline,
  kGetdelim,
  kFseek,
  kFseeko,
  kFsetpos,
  kRewind,
  kFflush,
  kFlockfile,
  kFtrylockfile,
  kFunlockfile
};
record::WrappedFunction& function_of(PosixFunction which) noexcept;
record::WrappedFunction& function_of(StdioFunction which) noexcept;

// A call whose start has been recorded in a measurement.
struct BegunCall {
  std::uint32_t measurement = 0;  // 0: nothing is recorded
  IoHandleId handle{};            // the handle that it uses; undefined: not known
};

// ---- Transfers of data on a handle

struct Transfer {
  IoOperation operation;
  std::uint64_t asked;  // bytes; kNoBytes: not known in advance, or none
  std::optional<std::uint64_t> offset{};
};

// `find` returns the handle; it is called only if the call is recorded.
template <typename FindHandle>
BegunCall begin_transfer(record::WrappedFunction& function, const void* caller,
                         const Transfer& transfer, FindHandle find) noexcept {
  record::WrapperScope scope(caller);
  if (!scope.wanted()) return {};
  const IoHandleId handle = find();
  scope.enter(function);
  const BegunCall begun{record::measurement_number(), handle};
  if (!handle.defined()) return begun;
  const std::uint64_t word =
      io_word(handle.value(), static_cast<std::uint32_t>(transfer.operation));
  if (transfer.offset) {
    scope.put(ExtendedKind::kIoBegin, {word, transfer.asked, *transfer.offset});
  } else {
    scope.put(ExtendedKind::kIoBegin, {word, transfer.asked});
  }
  return begun;
}
// `bytes`: number of bytes transferred; kNoBytes for a flush.
void end_transfer(record::WrappedFunction& function, const BegunCall& begun, IoOperation operation,
                  std::uint64_t bytes) noexcept;

// Makes the call and records its start and end. `bytes`: computes the number of bytes from the
// result.
template <typename FindHandle, typename Call, typename Bytes>
auto transfer_around(record::WrappedFunction& function, const void* caller,
                     const Transfer& transfer, FindHandle find, Call call, Bytes bytes) {
  const BegunCall begun = begin_transfer(function, caller, transfer, find);
  const auto result = call();
  if (begun.measurement != 0) end_transfer(function, begun, transfer.operation, bytes(result));
  return result;
}

// Starts a second transfer inside the region of the first.
void begin_inside(const BegunCall& begun, const Transfer& transfer) noexcept;
void end_inside(const BegunCall& begun, IoOperation operation, std::uint64_t bytes) noexcept;

// The number of bytes from the result of a system call; an error transfers none.
inline std::uint64_t bytes_of(ssize_t result) noexcept {
  return result < 0 ? 0 : static_cast<std::uint64_t>(result);
}

}  // namespace timeloom::preload
