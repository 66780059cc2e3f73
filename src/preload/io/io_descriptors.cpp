// The wrappers of system calls that open, close and copy descriptors, and delete files.
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>

#include "preload/common/next_function.hpp"
#include "preload/io/io_functions.hpp"
#include "preload/io/io_handles.hpp"
#include "record/measurement.hpp"

namespace timeloom::preload {
namespace {

using enum PosixFunction;
using record::WrappedFunction;
using record::wrapping;

// ---- Opening and closing

// Called after a call that begin_call() has recorded has opened a descriptor.
int opened(WrappedFunction& function, std::uint32_t begun, int descriptor, int flags) noexcept {
  record::WrapperScope scope(record::kAgain, begun);
  if (descriptor >= 0 && scope.wanted()) {
    const IoHandleId handle = new_handle(descriptor);
    if (handle.defined()) {
      scope.put(ExtendedKind::kIoCreate,
                {handle.value(), io_modes(access_of(flags), creation_of(flags), status_of(flags))});
    }
  }
  scope.leave(function);
  return descriptor;
}

// Between vfork() and exec a child shares the memory of its parent, but has its own descriptors.
std::uint32_t begin_here(WrappedFunction& function, const void* caller) noexcept {
  return record::in_measured_process() ? begin_call(function, caller) : 0;
}

template <typename Call>
[[gnu::noinline]] int open_descriptor_by(PosixFunction which, const void* caller, int flags,
                                         Call call) {
  WrappedFunction& function = function_of(which);
  const std::uint32_t begun = begin_here(function, caller);
  return begun == 0 ? call() : opened(function, begun, call(), flags);
}

// The arguments keep their places, so that the wrapper does not move any.
[[gnu::noinline]] int openat_by(int directory, const char* path, int flags, mode_t mode,
                                Next<int(int, const char*, int, ...)>& next, const void* caller) {
  return open_descriptor_by(kOpenat, caller, flags,
                            [=, &next] { return next(directory, path, flags, mode); });
}

template <typename Call>
[[gnu::noinline]] int close_descriptor_by(const void* caller, int descriptor, Call call) {
  if (!record::in_measured_process()) return call();
  WrappedFunction& function = function_of(kClose);
  // Called before the descriptor is closed; afterwards another thread may get the same number.
  const std::uint32_t begun = begin_call(function, caller);
  const ClosedHandles closed = take_handles(descriptor);
  const int result = call();
  if (begun == 0) return result;
  record::WrapperScope scope(record::kAgain, begun);
  if (result == 0) put_destroyed(scope, closed);
  scope.leave(function);
  return result;
}

// ---- Other descriptors

template <typename Call>
[[gnu::noinline]] int duplicate_by(PosixFunction which, const void* caller, int from, int to,
                                   Call call) {
  WrappedFunction& function = function_of(which);
  if (!record::in_measured_process()) return call();
  const std::uint32_t begun = begin_call(function, caller);
  const ClosedHandles closed = to >= 0 && to != from ? take_handles(to) : ClosedHandles{};
  const int result = call();
  if (begun == 0) return result;
  record::WrapperScope scope(record::kAgain, begun);
  if (result >= 0 && result != from && scope.wanted()) {
    put_destroyed(scope, closed);
    const IoHandleId old = handle_of(from);
    const IoHandleId copy = new_handle(result);
    if (old.defined() && copy.defined()) {
      scope.put(ExtendedKind::kIoDuplicate, {old.value(), copy.value()});
    }
  }
  scope.leave(function);
  return result;
}

// Makes relative paths absolute, without resolving links.
std::string absolute_path(int directory, const char* path) {
  std::string name = path == nullptr ? "" : path;
  if (name.starts_with('/')) return name;
  std::string base = "/proc/thread-self/cwd";
  if (directory != AT_FDCWD) base = "/proc/thread-self/fd/" + std::to_string(directory);
  char target[4096];
  const ssize_t size = ::readlink(base.c_str(), target, sizeof target);
  return size <= 0 ? name : std::string(target, static_cast<std::size_t>(size)) + "/" + name;
}

void put_deleted(record::WrapperScope& scope, const std::string& path) noexcept try {
  const StringId id = record::define_string(path);
  scope.put(ExtendedKind::kIoDelete, {io_word(id.value(), 0)});
} catch (const std::bad_alloc&) {
  return;
}

template <typename Call>
[[gnu::noinline]] int delete_by(PosixFunction which, const void* caller, int directory,
                                const char* path, Call call) try {
  WrappedFunction& function = function_of(which);
  const std::uint32_t begun = begin_call(function, caller);
  if (begun == 0) return call();
  const int result = call();
  record::WrapperScope scope(record::kAgain, begun);
  if (result == 0 && scope.wanted()) put_deleted(scope, absolute_path(directory, path));
  scope.leave(function);
  return result;
} catch (const std::bad_alloc&) {
  return 0;  // after a successful call
}

void change_status(WrappedFunction& function, std::uint32_t begun, int descriptor, int flags,
                   int result) noexcept {
  record::WrapperScope scope(record::kAgain, begun);
  if (result >= 0 && scope.wanted()) {
    const IoHandleId handle = handle_of(descriptor);
    if (handle.defined()) {
      scope.put(ExtendedKind::kIoStatusFlags, {handle.value(), status_of(flags)});
    }
  }
  scope.leave(function);
}

// Handles the commands that create or change a handle.
[[gnu::noinline]] int control(Next<int(int, int, ...)>& next, const void* caller, int descriptor,
                              int command, void* argument) {
  const auto call = [&next, descriptor, command, argument] {
    return next(descriptor, command, argument);
  };
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
    return duplicate_by(kFcntl, caller, descriptor, -1, call);
  }
  const std::uint32_t begun = command == F_SETFL ? begin_call(function_of(kFcntl), caller) : 0;
  if (begun == 0) return call();
  const int result = call();
  const auto flags = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
  change_status(function_of(kFcntl), begun, descriptor, flags, result);
  return result;
}

constinit Next<int(const char*, int, ...)> next_open{"open"}, next_open64{"open64"};
constinit Next<int(int, const char*, int, ...)> next_openat{"openat"}, next_openat64{"openat64"};
constinit Next<int(const char*, int)> next_open_2{"__open_2"}, next_open64_2{"__open64_2"};
constinit Next<int(int, const char*, int)> next_openat_2{"__openat_2"},
    next_openat64_2{"__openat64_2"};
constinit Next<int(const char*, mode_t)> next_creat{"creat"}, next_creat64{"creat64"};
constinit Next<int(int)> next_close{"close"}, next_dup{"dup"};
// The last two were added in version 2.34 of the C library.
int no_close_range(unsigned, unsigned, int) {
  errno = ENOSYS;
  return -1;
}
void close_each_from(int first) {
  if (::syscall(SYS_close_range, first < 0 ? 0 : first, ~0U, 0) == 0) return;
  constexpr long kMost = 1 << 20;  // of an older kernel, too
  const long limit = ::sysconf(_SC_OPEN_MAX);
  const auto most = static_cast<int>(limit < 0 ? kMost : std::min(limit, kMost));
  for (int next = first < 0 ? 0 : first; next < most; ++next) (void)next_close(next);
}
constinit Next<int(unsigned, unsigned, int)> next_close_range{"close_range", no_close_range};
constinit Next<void(int)> next_closefrom{"closefrom", close_each_from};
constinit Next<int(DIR*)> next_closedir{"closedir"};
constinit Next<int(int, int)> next_dup2{"dup2"};
constinit Next<int(int, int, int)> next_dup3{"dup3"};
constinit Next<int(int, int, ...)> next_fcntl{"fcntl"}, next_fcntl64{"fcntl64"};
constinit Next<int(const char*)> next_unlink{"unlink"}, next_remove{"remove"};
constinit Next<int(int, const char*, int)> next_unlinkat{"unlinkat"};

[[gnu::noinline]] int close_directory(DIR* directory, const void* caller) {
  if (directory != nullptr) destroy_handles(::dirfd(directory), caller);
  return next_closedir(directory);
}

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom;
using namespace timeloom::preload;

// ---- open

// An argument behind the named ones is passed like a named one on all supported platforms. The next
// function reads it only where the other arguments require it.

#define OPEN(name)                                                        \
  TIMELOOM_WRAPPER(int, name, const char* path, int flags, mode_t mode) { \
    const auto call = [=] { return next_##name(path, flags, mode); };     \
    if (!wrapping()) [[likely]]                                           \
      return call();                                                      \
    return open_descriptor_by(kOpen, CALLER, flags, call);                \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                     \
  TIMELOOM_WRAPPER(int, name, int directory, const char* path, int flags, mode_t mode) { \
    if (!wrapping()) [[likely]]                                                          \
      return next_##name(directory, path, flags, mode);                                  \
    return openat_by(directory, path, flags, mode, next_##name, CALLER);                 \
  }
OPENAT(openat)
OPENAT(openat64)

TIMELOOM_WRAPPER(int, __open_2, const char* path, int flags) {
  const auto call = [=] { return next_open_2(path, flags); };
  return wrapping() ? open_descriptor_by(kOpen, CALLER, flags, call) : call();
}
TIMELOOM_WRAPPER(int, __open64_2, const char* path, int flags) {
  const auto call = [=] { return next_open64_2(path, flags); };
  return wrapping() ? open_descriptor_by(kOpen, CALLER, flags, call) : call();
}
TIMELOOM_WRAPPER(int, __openat_2, int directory, const char* path, int flags) {
  const auto call = [=] { return next_openat_2(directory, path, flags); };
  return wrapping() ? open_descriptor_by(kOpenat, CALLER, flags, call) : call();
}
TIMELOOM_WRAPPER(int, __openat64_2, int directory, const char* path, int flags) {
  const auto call = [=] { return next_openat64_2(directory, path, flags); };
  return wrapping() ? open_descriptor_by(kOpenat, CALLER, flags, call) : call();
}
TIMELOOM_WRAPPER(int, creat, const char* path, mode_t mode) {
  const auto call = [=] { return next_creat(path, mode); };
  return wrapping() ? open_descriptor_by(kCreat, CALLER, O_CREAT | O_WRONLY | O_TRUNC, call)
                    : call();
}
TIMELOOM_WRAPPER(int, creat64, const char* path, mode_t mode) {
  const auto call = [=] { return next_creat64(path, mode); };
  return wrapping() ? open_descriptor_by(kCreat, CALLER, O_CREAT | O_WRONLY | O_TRUNC, call)
                    : call();
}

// ---- close

TIMELOOM_WRAPPER(int, close, int descriptor) {
  const auto call = [=] { return next_close(descriptor); };
  return wrapping() ? close_descriptor_by(CALLER, descriptor, call) : call();
}
TIMELOOM_WRAPPER(int, close_range, unsigned first, unsigned last, int flags) {
  if (!wrapping()) [[likely]]
    return next_close_range(first, last, flags);
  if (flags == 0 && record::in_measured_process()) forget_handles(first, last);
  return next_close_range(first, last, flags);
}
TIMELOOM_WRAPPER(void, closefrom, int first) {
  if (!wrapping()) [[likely]]
    return next_closefrom(first);
  if (first >= 0 && record::in_measured_process()) {
    forget_handles(static_cast<unsigned>(first), UINT32_MAX);
  }
  next_closefrom(first);
}

TIMELOOM_WRAPPER(int, closedir, DIR* directory) {
  return wrapping() ? close_directory(directory, CALLER) : next_closedir(directory);
}

// ---- dup, fcntl

TIMELOOM_WRAPPER(int, dup, int descriptor) {
  const auto call = [=] { return next_dup(descriptor); };
  return wrapping() ? duplicate_by(kDup, CALLER, descriptor, -1, call) : call();
}
TIMELOOM_WRAPPER(int, dup2, int from, int to) {
  const auto call = [=] { return next_dup2(from, to); };
  return wrapping() ? duplicate_by(kDup2, CALLER, from, to, call) : call();
}
TIMELOOM_WRAPPER(int, dup3, int from, int to, int flags) {
  const auto call = [=] { return next_dup3(from, to, flags); };
  return wrapping() ? duplicate_by(kDup3, CALLER, from, to, call) : call();
}

// Every argument of a command fits into a pointer.
#define FCNTL(name)                                                                 \
  TIMELOOM_WRAPPER(int, name, int descriptor, int command, void* argument) {        \
    return wrapping() ? control(next_##name, CALLER, descriptor, command, argument) \
                      : next_##name(descriptor, command, argument);                 \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

// ---- unlink

TIMELOOM_WRAPPER(int, unlink, const char* path) {
  const auto call = [=] { return next_unlink(path); };
  return wrapping() ? delete_by(kUnlink, CALLER, AT_FDCWD, path, call) : call();
}
TIMELOOM_WRAPPER(int, unlinkat, int directory, const char* path, int flags) {
  const auto call = [=] { return next_unlinkat(directory, path, flags); };
  return wrapping() ? delete_by(kUnlinkat, CALLER, directory, path, call) : call();
}
TIMELOOM_WRAPPER(int, remove, const char* path) {
  const auto call = [=] { return next_remove(path); };
  return wrapping() ? delete_by(kRemove, CALLER, AT_FDCWD, path, call) : call();
}
