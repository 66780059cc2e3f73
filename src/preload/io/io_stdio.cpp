// The wrappers of C's stream functions, except for formatted text.
#include <stdio.h>
#include <cstring>

#include "preload/common/next_function.hpp"
#include "preload/io/io_functions.hpp"
#include "preload/io/io_handles.hpp"
#include "preload/io/io_streams.hpp"

namespace timeloom::preload {
namespace {

using enum StdioFunction;
using record::WrappedFunction;
using record::wrapping;

// ---- Opening and closing

// The descriptor belongs to the stream, so its handle has the stream's handle as its parent.
void put_created(record::WrapperScope& scope, FILE* stream, const char* mode) noexcept {
  const int descriptor = descriptor_of(stream);
  const IoHandleId handle = new_stream(descriptor);
  const IoHandleId below = handle.defined() ? new_handle(descriptor, handle) : IoHandleId{};
  if (!below.defined()) return;
  const int flags = flags_of_mode(mode);
  const std::uint64_t modes = io_modes(access_of(flags), creation_of(flags), status_of(flags));
  scope.put(ExtendedKind::kIoCreate, {below.value(), modes});
  scope.put(ExtendedKind::kIoCreate, {handle.value(), modes});
}

template <typename Call>
[[gnu::noinline]] FILE* open_by(StdioFunction which, const void* caller, const char* mode,
                                FILE* before, Call call) {
  WrappedFunction& function = function_of(which);
  if (!record::in_measured_process()) return call();
  const std::uint32_t begun = begin_call(function, caller);
  const ClosedHandles closed =
      before == nullptr ? ClosedHandles{} : take_handles(descriptor_of(before));
  FILE* const stream = call();
  if (begun == 0) return stream;
  record::WrapperScope scope(record::kAgain, begun);
  if (scope.wanted()) put_destroyed(scope, closed);
  if (stream != nullptr && scope.wanted()) put_created(scope, stream, mode);
  scope.leave(function);
  return stream;
}

// The descriptor was already open: only the stream is new.
template <typename Call>
[[gnu::noinline]] FILE* open_upon(const void* caller, const char* mode, Call call) {
  WrappedFunction& function = function_of(kFdopen);
  const std::uint32_t begun = begin_call(function, caller);
  if (begun == 0) return call();
  FILE* const stream = call();
  record::WrapperScope scope(record::kAgain, begun);
  if (stream != nullptr && scope.wanted()) {
    const IoHandleId handle = new_stream(descriptor_of(stream));
    const std::uint64_t modes = io_modes(access_of(flags_of_mode(mode)), 0, 0);
    if (handle.defined()) scope.put(ExtendedKind::kIoCreate, {handle.value(), modes});
  }
  scope.leave(function);
  return stream;
}

template <typename Call>
[[gnu::noinline]] int close_by(const void* caller, FILE* stream, Call call) {
  WrappedFunction& function = function_of(kFclose);
  if (!record::in_measured_process()) return call();
  if (record::is_own_descriptor(descriptor_of(stream))) {
    record::set_own_descriptor(-1);
    return call();
  }
  const std::uint32_t begun = begin_call(function, caller);
  const ClosedHandles closed = take_handles(descriptor_of(stream));
  const int result = call();
  if (begun == 0) return result;
  record::WrapperScope scope(record::kAgain, begun);
  if (scope.wanted()) put_destroyed(scope, closed);
  scope.leave(function);
  return result;
}

// ---- Transfers

std::uint64_t one_byte(int result) noexcept { return result == EOF ? 0 : 1; }

// The number of bytes that fgets() has read. The function does not return it, and the text may
// contain zeros. The text ends with the first newline, or fills the buffer, unless the file ended
// before or an error occurred; then the bytes before the first zero are counted.
std::uint64_t line_bytes(const char* line, std::uint64_t most, FILE* stream) noexcept {
  if (line == nullptr) return 0;
  if (::feof_unlocked(stream) != 0 || ::ferror_unlocked(stream) != 0) return std::strlen(line);
  const void* const newline = std::memchr(line, '\n', most);
  if (newline == nullptr) return most;
  return static_cast<std::uint64_t>(static_cast<const char*>(newline) - line) + 1;
}

template <typename Call>
[[gnu::noinline]] char* take_line(const void* caller, FILE* stream, int room, Call call) {
  const auto most = static_cast<std::uint64_t>(room > 0 ? room - 1 : 0);
  return transfer_by(kFgets, IoOperation::kRead, caller, stream, most, call,
                     [=](const char* line) { return line_bytes(line, most, stream); });
}

// `more`: bytes that the call adds to the text.
template <typename Call>
[[gnu::noinline]] int put_text(StdioFunction which, const void* caller, FILE* stream,
                               const char* text, std::uint64_t more, Call call) {
  const std::uint64_t size = std::strlen(text) + more;
  return transfer_by(which, IoOperation::kWrite, caller, stream, size, call,
                     [=](int result) { return result == EOF ? 0 : size; });
}

// ---- Seeking and flushing

template <typename Call>
[[gnu::noinline]] int seek_stream_by(StdioFunction which, const void* caller, FILE* stream,
                                     off64_t offset, int whence, Call call) {
  if (record::is_own_descriptor(descriptor_of(stream))) return call();
  WrappedFunction& function = function_of(which);
  const std::uint32_t begun = begin_call(function, caller);
  if (begun == 0) return call();
  const int result = call();
  const off64_t reached = result == 0 ? position_of(stream) : 0;
  record::WrapperScope scope(record::kAgain, begun);
  if (result == 0 && scope.wanted()) {
    put_seek(scope, stream_of(descriptor_of(stream)), {offset, whence, reached});
  }
  scope.leave(function);
  return result;
}

template <typename Call>
[[gnu::noinline]] int flush_stream_by(const void* caller, FILE* stream, Call call) {
  return transfer_by(kFflush, IoOperation::kFlush, caller, stream, kNoBytes, call,
                     [](int) { return kNoBytes; });
}

constinit Next<FILE*(const char*, const char*)> next_fopen{"fopen"}, next_fopen64{"fopen64"};
constinit Next<FILE*(const char*, const char*, FILE*)> next_freopen{"freopen"},
    next_freopen64{"freopen64"};
constinit Next<FILE*()> next_tmpfile{"tmpfile"}, next_tmpfile64{"tmpfile64"};
constinit Next<FILE*(int, const char*)> next_fdopen{"fdopen"};
constinit Next<int(FILE*)> next_fclose{"fclose"}, next_pclose{"pclose"}, next_fflush{"fflush"},
    next_fgetc{"fgetc"}, next_getc{"getc"};
constinit Next<size_t(void*, size_t, size_t, FILE*)> next_fread{"fread"},
    next_fread_unlocked{"fread_unlocked"};
constinit Next<size_t(void*, size_t, size_t, size_t, FILE*)> next_fread_chk{"__fread_chk"};
constinit Next<size_t(const void*, size_t, size_t, FILE*)> next_fwrite{"fwrite"},
    next_fwrite_unlocked{"fwrite_unlocked"};
constinit Next<char*(char*, int, FILE*)> next_fgets{"fgets"};
constinit Next<char*(char*, size_t, int, FILE*)> next_fgets_chk{"__fgets_chk"};
constinit Next<int(const char*, FILE*)> next_fputs{"fputs"};
constinit Next<int(const char*)> next_puts{"puts"};
constinit Next<int()> next_getchar{"getchar"};
constinit Next<ssize_t(char**, size_t*, FILE*)> next_getline{"getline"};
constinit Next<ssize_t(char**, size_t*, int, FILE*)> next_getdelim{"getdelim"},
    next_own_getdelim{"__getdelim"};
constinit Next<int(int, FILE*)> next_fputc{"fputc"}, next_putc{"putc"};
constinit Next<int(int)> next_putchar{"putchar"};
constinit Next<int(FILE*, long, int)> next_fseek{"fseek"};
constinit Next<int(FILE*, off64_t, int)> next_fseeko{"fseeko"}, next_fseeko64{"fseeko64"};
constinit Next<int(FILE*, const fpos_t*)> next_fsetpos{"fsetpos"}, next_fsetpos64{"fsetpos64"};
constinit Next<void(FILE*)> next_rewind{"rewind"};

[[gnu::noinline]] int close_command(FILE* stream, const void* caller) {
  destroy_handles(descriptor_of(stream), caller);
  return next_pclose(stream);
}

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom;
using namespace timeloom::preload;

// ---- Opening and closing

#define FOPEN(name)                                                            \
  TIMELOOM_WRAPPER(FILE*, name, const char* path, const char* mode) {          \
    const auto call = [=] { return next_##name(path, mode); };                 \
    return wrapping() ? open_by(kFopen, CALLER, mode, nullptr, call) : call(); \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define TMPFILE(name)                                                            \
  TIMELOOM_WRAPPER(FILE*, name, void) {                                          \
    const auto call = [] { return next_##name(); };                              \
    return wrapping() ? open_by(kTmpfile, CALLER, "w+", nullptr, call) : call(); \
  }
TMPFILE(tmpfile)
TMPFILE(tmpfile64)

#define FREOPEN(name)                                                               \
  TIMELOOM_WRAPPER(FILE*, name, const char* path, const char* mode, FILE* stream) { \
    const auto call = [=] { return next_##name(path, mode, stream); };              \
    return wrapping() ? open_by(kFreopen, CALLER, mode, stream, call) : call();     \
  }
FREOPEN(freopen)
FREOPEN(freopen64)

TIMELOOM_WRAPPER(FILE*, fdopen, int descriptor, const char* mode) {
  const auto call = [=] { return next_fdopen(descriptor, mode); };
  return wrapping() ? open_upon(CALLER, mode, call) : call();
}
TIMELOOM_WRAPPER(int, fclose, FILE* stream) {
  const auto call = [=] { return next_fclose(stream); };
  return wrapping() ? close_by(CALLER, stream, call) : call();
}

// A stream of popen(), which is not recorded as a region either.
TIMELOOM_WRAPPER(int, pclose, FILE* stream) {
  return wrapping() ? close_command(stream, CALLER) : next_pclose(stream);
}

// ---- Items and lines

#define FREAD(name)                                                                     \
  TIMELOOM_WRAPPER(size_t, name, void* data, size_t size, size_t count, FILE* stream) { \
    const auto call = [=] { return next_##name(data, size, count, stream); };           \
    if (!wrapping()) return call();                                                     \
    return transfer_by(kFread, IoOperation::kRead, CALLER, stream, size * count, call,  \
                       [=](size_t items) { return std::uint64_t{size} * items; });      \
  }
FREAD(fread)
FREAD(fread_unlocked)

TIMELOOM_WRAPPER(size_t, __fread_chk, void* data, size_t room, size_t size, size_t count,
                 FILE* stream) {
  const auto call = [=] { return next_fread_chk(data, room, size, count, stream); };
  if (!wrapping()) return call();
  return transfer_by(kFread, IoOperation::kRead, CALLER, stream, size * count, call,
                     [=](size_t items) { return std::uint64_t{size} * items; });
}

#define FWRITE(name)                                                                          \
  TIMELOOM_WRAPPER(size_t, name, const void* data, size_t size, size_t count, FILE* stream) { \
    const auto call = [=] { return next_##name(data, size, count, stream); };                 \
    if (!wrapping()) return call();                                                           \
    return transfer_by(kFwrite, IoOperation::kWrite, CALLER, stream, size * count, call,      \
                       [=](size_t items) { return std::uint64_t{size} * items; });            \
  }
FWRITE(fwrite)
FWRITE(fwrite_unlocked)

#define LINE(symbol, call_of, ...)                                   \
  TIMELOOM_WRAPPER(char*, symbol, __VA_ARGS__) {                     \
    if (!wrapping()) [[likely]]                                      \
      return call_of;                                                \
    return take_line(CALLER, stream, room, [=] { return call_of; }); \
  }
LINE(fgets, next_fgets(line_to, room, stream), char* line_to, int room, FILE* stream)
LINE(__fgets_chk, next_fgets_chk(line_to, size, room, stream), char* line_to, size_t size, int room,
     FILE* stream)

// The caller's buffer for the line grows, so the number of requested bytes is not known.
TIMELOOM_WRAPPER(ssize_t, getline, char** line, size_t* room, FILE* stream) {
  const auto call = [=] { return next_getline(line, room, stream); };
  if (!wrapping()) return call();
  return transfer_by(kGetline, IoOperation::kRead, CALLER, stream, kNoBytes, call, bytes_of);
}

#define GETDELIM(symbol, next)                                                                   \
  TIMELOOM_WRAPPER(ssize_t, symbol, char** line, size_t* room, int delimiter, FILE* stream) {    \
    const auto call = [=] { return next(line, room, delimiter, stream); };                       \
    if (!wrapping()) [[likely]]                                                                  \
      return call();                                                                             \
    return transfer_by(kGetdelim, IoOperation::kRead, CALLER, stream, kNoBytes, call, bytes_of); \
  }
GETDELIM(getdelim, next_getdelim)
GETDELIM(__getdelim, next_own_getdelim)

TIMELOOM_WRAPPER(int, fputs, const char* text, FILE* stream) {
  if (!wrapping()) [[likely]]
    return next_fputs(text, stream);
  return put_text(kFputs, CALLER, stream, text, 0, [=] { return next_fputs(text, stream); });
}
TIMELOOM_WRAPPER(int, puts, const char* text) {
  if (!wrapping()) [[likely]]
    return next_puts(text);
  return put_text(kPuts, CALLER, stdout, text, 1, [=] { return next_puts(text); });
}

// ---- Characters

#define GET(name, which, stream, arguments, ...)                                      \
  TIMELOOM_WRAPPER(int, name, __VA_ARGS__) {                                          \
    const auto call = [=] { return next_##name arguments; };                          \
    if (!wrapping()) return call();                                                   \
    return transfer_by(which, IoOperation::kRead, CALLER, stream, 1, call, one_byte); \
  }
GET(fgetc, kFgetc, from, (from), FILE* from)
GET(getc, kGetc, from, (from), FILE* from)
GET(getchar, kGetchar, stdin, (), void)

#define PUT(name, which, stream, arguments, ...)                                       \
  TIMELOOM_WRAPPER(int, name, __VA_ARGS__) {                                           \
    const auto call = [=] { return next_##name arguments; };                           \
    if (!wrapping()) return call();                                                    \
    return transfer_by(which, IoOperation::kWrite, CALLER, stream, 1, call, one_byte); \
  }
PUT(fputc, kFputc, to, (character, to), int character, FILE* to)
PUT(putc, kPutc, to, (character, to), int character, FILE* to)
PUT(putchar, kPutchar, stdout, (character), int character)

// ---- Positions and buffers

#define FSEEK(name, which, offset_type)                                                       \
  TIMELOOM_WRAPPER(int, name, FILE* stream, offset_type offset, int whence) {                 \
    const auto call = [=] { return next_##name(stream, offset, whence); };                    \
    return wrapping() ? seek_stream_by(which, CALLER, stream, offset, whence, call) : call(); \
  }
FSEEK(fseek, kFseek, long)
FSEEK(fseeko, kFseeko, off64_t)
FSEEK(fseeko64, kFseeko, off64_t)

#define FSETPOS(name)                                                                 \
  TIMELOOM_WRAPPER(int, name, FILE* stream, const fpos_t* position) {                 \
    const auto call = [=] { return next_##name(stream, position); };                  \
    if (!wrapping()) return call();                                                   \
    return seek_stream_by(kFsetpos, CALLER, stream, position->__pos, SEEK_SET, call); \
  }
FSETPOS(fsetpos)
FSETPOS(fsetpos64)

TIMELOOM_WRAPPER(void, rewind, FILE* stream) {
  const auto call = [=] {
    next_rewind(stream);
    return 0;
  };
  static_cast<void>(wrapping() ? seek_stream_by(kRewind, CALLER, stream, 0, SEEK_SET, call)
                               : call());
}
TIMELOOM_WRAPPER(int, fflush, FILE* stream) {
  const auto call = [=] { return next_fflush(stream); };
  return wrapping() ? flush_stream_by(CALLER, stream, call) : call();
}
