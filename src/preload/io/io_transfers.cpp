// The wrappers of system calls that read, write, seek and flush.
#include <sys/uio.h>
#include <unistd.h>

#include "preload/common/next_function.hpp"
#include "preload/io/io_functions.hpp"
#include "preload/io/io_handles.hpp"
#include "preload/io/io_system.hpp"

namespace timeloom::preload {
namespace {

using enum PosixFunction;
using record::WrappedFunction;
using record::wrapping;

template <typename Call>
[[gnu::noinline]] int flush_by(PosixFunction which, const void* caller, int descriptor, Call call) {
  const auto find = [&] { return handle_of(descriptor); };
  return transfer_around(function_of(which), caller, {IoOperation::kFlush, kNoBytes}, find, call,
                         [](int) { return kNoBytes; });
}

std::uint64_t offset_of(off64_t offset) noexcept { return static_cast<std::uint64_t>(offset); }

// The parts of `transfer` other than the number of bytes requested.
template <typename Call>
[[gnu::noinline]] ssize_t transfer_parts(PosixFunction which, const void* caller, int descriptor,
                                         Transfer transfer, const iovec* parts, int count,
                                         Call call) {
  for (int i = 0; i < count; ++i) transfer.asked += parts[i].iov_len;
  return transfer_by(which, caller, descriptor, transfer, call);
}

// An offset of -1 stands for the position of the descriptor.
template <typename Call>
[[gnu::noinline]] ssize_t transfer_with_flags(PosixFunction which, const void* caller,
                                              int descriptor, IoOperation operation,
                                              const iovec* parts, int count, off64_t offset,
                                              Call call) {
  Transfer transfer{operation, 0};
  if (offset != -1) transfer.offset = offset_of(offset);
  return transfer_parts(which, caller, descriptor, transfer, parts, count, call);
}

// From one descriptor to another: a transfer on each.
template <typename Call>
[[gnu::noinline]] ssize_t copy_by(PosixFunction which, const void* caller, int from, int to,
                                  std::uint64_t asked, Call call) {
  WrappedFunction& function = function_of(which);
  BegunCall writes{};
  const BegunCall reads = begin_transfer(function, caller, {IoOperation::kRead, asked}, [&] {
    writes.handle = handle_of(to);
    return handle_of(from);
  });
  writes.measurement = reads.measurement;
  if (reads.measurement != 0) begin_inside(writes, {IoOperation::kWrite, asked});
  const ssize_t result = call();
  if (reads.measurement == 0) return result;
  end_inside(writes, IoOperation::kWrite, bytes_of(result));
  end_transfer(function, reads, IoOperation::kRead, bytes_of(result));
  return result;
}

template <typename Call>
[[gnu::noinline]] off64_t seek_by(const void* caller, int descriptor, off64_t offset, int whence,
                                  Call call) {
  if (record::is_own_descriptor(descriptor)) return call();
  WrappedFunction& function = function_of(kLseek);
  const std::uint32_t begun = begin_call(function, caller);
  if (begun == 0) return call();
  const off64_t result = call();
  record::WrapperScope scope(record::kAgain, begun);
  if (result >= 0 && scope.wanted()) {
    put_seek(scope, handle_of(descriptor), {offset, whence, result});
  }
  scope.leave(function);
  return result;
}

constinit Next<int(int)> next_fsync{"fsync"}, next_fdatasync{"fdatasync"}, next_syncfs{"syncfs"};
constinit Next<ssize_t(int, void*, size_t)> next_read{"read"};
constinit Next<ssize_t(int, const void*, size_t)> next_write{"write"};
constinit Next<ssize_t(int, void*, size_t, size_t)> next_read_chk{"__read_chk"};
constinit Next<ssize_t(int, void*, size_t, off64_t)> next_pread{"pread"}, next_pread64{"pread64"};
constinit Next<ssize_t(int, const void*, size_t, off64_t)> next_pwrite{"pwrite"},
    next_pwrite64{"pwrite64"};
constinit Next<ssize_t(int, void*, size_t, off64_t, size_t)> next_pread_chk{"__pread_chk"},
    next_pread64_chk{"__pread64_chk"};
constinit Next<ssize_t(int, const iovec*, int)> next_readv{"readv"}, next_writev{"writev"};
constinit Next<ssize_t(int, const iovec*, int, off64_t)> next_preadv{"preadv"},
    next_preadv64{"preadv64"}, next_pwritev{"pwritev"}, next_pwritev64{"pwritev64"};
constinit Next<ssize_t(int, const iovec*, int, off64_t, int)> next_preadv2{"preadv2"},
    next_preadv64v2{"preadv64v2"}, next_pwritev2{"pwritev2"}, next_pwritev64v2{"pwritev64v2"};
constinit Next<off64_t(int, off64_t, int)> next_lseek{"lseek"}, next_lseek64{"lseek64"};
constinit Next<void()> next_sync{"sync"};
constinit Next<ssize_t(int, int, off64_t*, size_t)> next_sendfile{"sendfile"},
    next_sendfile64{"sendfile64"};
constinit Next<ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned)> next_copy_file_range{
    "copy_file_range"};

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom;
using namespace timeloom::preload;

// ---- read, write

TIMELOOM_WRAPPER(ssize_t, read, int descriptor, void* data, size_t size) {
  if (!wrapping()) [[likely]]
    return next_read(descriptor, data, size);
  return transfer_by(kRead, CALLER, descriptor, {IoOperation::kRead, size},
                     [=] { return next_read(descriptor, data, size); });
}
TIMELOOM_WRAPPER(ssize_t, write, int descriptor, const void* data, size_t size) {
  if (!wrapping()) [[likely]]
    return next_write(descriptor, data, size);
  return transfer_by(kWrite, CALLER, descriptor, {IoOperation::kWrite, size},
                     [=] { return next_write(descriptor, data, size); });
}
TIMELOOM_WRAPPER(ssize_t, __read_chk, int descriptor, void* data, size_t size, size_t room) {
  const auto call = [=] { return next_read_chk(descriptor, data, size, room); };
  if (!wrapping()) return call();
  return transfer_by(kRead, CALLER, descriptor, {IoOperation::kRead, size}, call);
}

#define AT(name, which, operation, pointer)                                                    \
  TIMELOOM_WRAPPER(ssize_t, name, int descriptor, pointer data, size_t size, off64_t offset) { \
    const auto call = [=] { return next_##name(descriptor, data, size, offset); };             \
    if (!wrapping()) return call();                                                            \
    return transfer_by(which, CALLER, descriptor, {operation, size, offset_of(offset)}, call); \
  }
AT(pread, kPread, IoOperation::kRead, void*)
AT(pread64, kPread, IoOperation::kRead, void*)
AT(pwrite, kPwrite, IoOperation::kWrite, const void*)
AT(pwrite64, kPwrite, IoOperation::kWrite, const void*)

#define AT_CHECKED(name, symbol)                                                                  \
  TIMELOOM_WRAPPER(ssize_t, symbol, int descriptor, void* data, size_t size, off64_t offset,      \
                   size_t room) {                                                                 \
    const auto call = [=] { return next_##name(descriptor, data, size, offset, room); };          \
    if (!wrapping()) return call();                                                               \
    return transfer_by(kPread, CALLER, descriptor, {IoOperation::kRead, size, offset_of(offset)}, \
                       call);                                                                     \
  }
AT_CHECKED(pread_chk, __pread_chk)
AT_CHECKED(pread64_chk, __pread64_chk)

#define VECTOR(name, which, operation)                                                    \
  TIMELOOM_WRAPPER(ssize_t, name, int descriptor, const iovec* parts, int count) {        \
    const auto call = [=] { return next_##name(descriptor, parts, count); };              \
    if (!wrapping()) return call();                                                       \
    return transfer_parts(which, CALLER, descriptor, {operation, 0}, parts, count, call); \
  }
VECTOR(readv, kReadv, IoOperation::kRead)
VECTOR(writev, kWritev, IoOperation::kWrite)

#define VECTOR_AT(name, which, operation)                                                          \
  TIMELOOM_WRAPPER(ssize_t, name, int descriptor, const iovec* parts, int count, off64_t offset) { \
    const auto call = [=] { return next_##name(descriptor, parts, count, offset); };               \
    if (!wrapping()) return call();                                                                \
    return transfer_parts(which, CALLER, descriptor, {operation, 0, offset_of(offset)}, parts,     \
                          count, call);                                                            \
  }
VECTOR_AT(preadv, kPreadv, IoOperation::kRead)
VECTOR_AT(preadv64, kPreadv, IoOperation::kRead)
VECTOR_AT(pwritev, kPwritev, IoOperation::kWrite)
VECTOR_AT(pwritev64, kPwritev, IoOperation::kWrite)

#define VECTOR_WITH_FLAGS(name, which, operation)                                                \
  TIMELOOM_WRAPPER(ssize_t, name, int descriptor, const iovec* parts, int count, off64_t offset, \
                   int flags) {                                                                  \
    if (!wrapping()) [[likely]]                                                                  \
      return next_##name(descriptor, parts, count, offset, flags);                               \
    return transfer_with_flags(which, CALLER, descriptor, operation, parts, count, offset, [=] { \
      return next_##name(descriptor, parts, count, offset, flags);                               \
    });                                                                                          \
  }
VECTOR_WITH_FLAGS(preadv2, kPreadv2, IoOperation::kRead)
VECTOR_WITH_FLAGS(preadv64v2, kPreadv2, IoOperation::kRead)
VECTOR_WITH_FLAGS(pwritev2, kPwritev2, IoOperation::kWrite)
VECTOR_WITH_FLAGS(pwritev64v2, kPwritev2, IoOperation::kWrite)

// ---- From one to another

#define SENDFILE(name)                                                              \
  TIMELOOM_WRAPPER(ssize_t, name, int to, int from, off64_t* offset, size_t size) { \
    const auto call = [=] { return next_##name(to, from, offset, size); };          \
    return wrapping() ? copy_by(kSendfile, CALLER, from, to, size, call) : call();  \
  }
SENDFILE(sendfile)
SENDFILE(sendfile64)

TIMELOOM_WRAPPER(ssize_t, copy_file_range, int from, off64_t* from_offset, int to,
                 off64_t* to_offset, size_t size, unsigned flags) {
  if (!wrapping()) [[likely]]
    return next_copy_file_range(from, from_offset, to, to_offset, size, flags);
  return copy_by(kCopyFileRange, CALLER, from, to, size, [=] {
    return next_copy_file_range(from, from_offset, to, to_offset, size, flags);
  });
}

// ---- Positions and disks

#define SEEK(name)                                                                  \
  TIMELOOM_WRAPPER(off64_t, name, int descriptor, off64_t offset, int whence) {     \
    const auto call = [=] { return next_##name(descriptor, offset, whence); };      \
    return wrapping() ? seek_by(CALLER, descriptor, offset, whence, call) : call(); \
  }
SEEK(lseek)
SEEK(lseek64)

#define FLUSH(name, which)                                                  \
  TIMELOOM_WRAPPER(int, name, int descriptor) {                             \
    const auto call = [=] { return next_##name(descriptor); };              \
    return wrapping() ? flush_by(which, CALLER, descriptor, call) : call(); \
  }
FLUSH(fsync, kFsync)
FLUSH(fdatasync, kFdatasync)
FLUSH(syncfs, kSyncfs)

TIMELOOM_WRAPPER(void, sync, void) {
  if (!wrapping()) [[likely]]
    return next_sync();
  region_around(function_of(kSync), CALLER, [] { next_sync(); });
}
