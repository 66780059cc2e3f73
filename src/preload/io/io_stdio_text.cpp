// The wrappers of C's calls for formatted text.
#include <stdio.h>

#include <cstdarg>

#include "preload/common/next_function.hpp"
#include "preload/io/io_functions.hpp"
#include "preload/io/io_streams.hpp"
#include "preload/io/io_system.hpp"

namespace timeloom::preload {
namespace {

using enum PosixFunction;
using enum StdioFunction;
using record::wrapping;

// For calls that return the number of bytes written, or an error.
std::uint64_t bytes_written(int result) noexcept { return bytes_of(result); }

// For calls that do not return the number of bytes read: computes it from the position.
class Position {
 public:
  explicit Position(FILE* stream) noexcept : stream_(stream), begin_(position_of(stream)) {}
  std::uint64_t passed() const noexcept {
    const off64_t end = position_of(stream_);
    return begin_ < 0 || end < begin_ ? 0 : static_cast<std::uint64_t>(end - begin_);
  }

 private:
  FILE* stream_;
  off64_t begin_;
};

template <typename Call>
[[gnu::noinline]] int scan_by(StdioFunction which, const void* caller, FILE* stream, Call call) {
  const Position position(stream);
  return transfer_by(which, IoOperation::kRead, caller, stream, kNoBytes, call,
                     [&](int) { return position.passed(); });
}

constinit Next<int(FILE*, const char*, va_list)> next_vfprintf{"vfprintf"}, next_vfscanf{"vfscanf"},
    next_isoc99_vfscanf{"__isoc99_vfscanf"};
constinit Next<int(const char*, va_list)> next_vscanf{"vscanf"},
    next_isoc99_vscanf{"__isoc99_vscanf"};
// Older C libraries have only the functions of C99.
constinit Next<int(FILE*, const char*, va_list)> next_isoc23_vfscanf{
    "__isoc23_vfscanf", [](FILE* stream, const char* format, va_list values) {
      return next_isoc99_vfscanf(stream, format, values);
    }};
constinit Next<int(const char*, va_list)> next_isoc23_vscanf{
    "__isoc23_vscanf",
    [](const char* format, va_list values) { return next_isoc99_vscanf(format, values); }};
constinit Next<int(const char*, va_list)> next_vprintf{"vprintf"};
constinit Next<int(FILE*, int, const char*, va_list)> next_vfprintf_chk{"__vfprintf_chk"};
constinit Next<int(int, const char*, va_list)> next_vprintf_chk{"__vprintf_chk"};
constinit Next<int(int, const char*, va_list)> next_vdprintf{"vdprintf"};
constinit Next<int(int, int, const char*, va_list)> next_vdprintf_chk{"__vdprintf_chk"};

// ---- Recorded calls. A call that is not recorded goes by a jump to the next function.

int print_to(StdioFunction which, const void* caller, FILE* stream, const char* format,
             va_list values) {
  const auto call = [=] { return next_vfprintf(stream, format, values); };
  return transfer_by(which, IoOperation::kWrite, caller, stream, kNoBytes, call, bytes_written);
}

int print_checked(StdioFunction which, const void* caller, FILE* stream, int flag,
                  const char* format, va_list values) {
  const auto call = [=] { return next_vfprintf_chk(stream, flag, format, values); };
  return transfer_by(which, IoOperation::kWrite, caller, stream, kNoBytes, call, bytes_written);
}

// The temporary stream that the C library makes for such a call gets no handle.
int print_below(PosixFunction which, const void* caller, int descriptor, const char* format,
                va_list values) {
  const auto call = [=] { return next_vdprintf(descriptor, format, values); };
  return transfer_by(which, caller, descriptor, {IoOperation::kWrite, kNoBytes}, call);
}

int print_below_checked(PosixFunction which, const void* caller, int descriptor, int flag,
                        const char* format, va_list values) {
  const auto call = [=] { return next_vdprintf_chk(descriptor, flag, format, values); };
  return transfer_by(which, caller, descriptor, {IoOperation::kWrite, kNoBytes}, call);
}

int scan_from(StdioFunction which, const void* caller, FILE* stream, const char* format,
              va_list values, Next<int(FILE*, const char*, va_list)>& next) {
  return scan_by(which, caller, stream, [=, &next] { return next(stream, format, values); });
}

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom;
using namespace timeloom::preload;

#define WITH_VALUES(last, call_of) \
  va_list values;                  \
  va_start(values, last);          \
  const int result = call_of;      \
  va_end(values);                  \
  return result

// ---- To streams

TIMELOOM_WRAPPER(int, fprintf, FILE* stream, const char* format, ...) {
  WITH_VALUES(format, wrapping() ? print_to(kFprintf, CALLER, stream, format, values)
                                 : next_vfprintf(stream, format, values));
}
TIMELOOM_WRAPPER(int, vfprintf, FILE* stream, const char* format, va_list values) {
  return wrapping() ? print_to(kVfprintf, CALLER, stream, format, values)
                    : next_vfprintf(stream, format, values);
}
TIMELOOM_WRAPPER(int, printf, const char* format, ...) {
  WITH_VALUES(format, wrapping() ? print_to(kPrintf, CALLER, stdout, format, values)
                                 : next_vprintf(format, values));
}
TIMELOOM_WRAPPER(int, vprintf, const char* format, va_list values) {
  return wrapping() ? print_to(kVprintf, CALLER, stdout, format, values)
                    : next_vprintf(format, values);
}
TIMELOOM_WRAPPER(int, __fprintf_chk, FILE* stream, int flag, const char* format, ...) {
  WITH_VALUES(format, wrapping() ? print_checked(kFprintf, CALLER, stream, flag, format, values)
                                 : next_vfprintf_chk(stream, flag, format, values));
}
TIMELOOM_WRAPPER(int, __vfprintf_chk, FILE* stream, int flag, const char* format, va_list values) {
  return wrapping() ? print_checked(kVfprintf, CALLER, stream, flag, format, values)
                    : next_vfprintf_chk(stream, flag, format, values);
}
TIMELOOM_WRAPPER(int, __printf_chk, int flag, const char* format, ...) {
  WITH_VALUES(format, wrapping() ? print_checked(kPrintf, CALLER, stdout, flag, format, values)
                                 : next_vprintf_chk(flag, format, values));
}
TIMELOOM_WRAPPER(int, __vprintf_chk, int flag, const char* format, va_list values) {
  return wrapping() ? print_checked(kVprintf, CALLER, stdout, flag, format, values)
                    : next_vprintf_chk(flag, format, values);
}

// ---- To descriptors

TIMELOOM_WRAPPER(int, dprintf, int descriptor, const char* format, ...) {
  WITH_VALUES(format, wrapping() ? print_below(kDprintf, CALLER, descriptor, format, values)
                                 : next_vdprintf(descriptor, format, values));
}
TIMELOOM_WRAPPER(int, vdprintf, int descriptor, const char* format, va_list values) {
  return wrapping() ? print_below(kVdprintf, CALLER, descriptor, format, values)
                    : next_vdprintf(descriptor, format, values);
}
TIMELOOM_WRAPPER(int, __dprintf_chk, int descriptor, int flag, const char* format, ...) {
  WITH_VALUES(format, wrapping()
                          ? print_below_checked(kDprintf, CALLER, descriptor, flag, format, values)
                          : next_vdprintf_chk(descriptor, flag, format, values));
}
TIMELOOM_WRAPPER(int, __vdprintf_chk, int descriptor, int flag, const char* format,
                 va_list values) {
  return wrapping() ? print_below_checked(kVdprintf, CALLER, descriptor, flag, format, values)
                    : next_vdprintf_chk(descriptor, flag, format, values);
}

// ---- From streams. Besides the functions of old C there are variants for C99 and, from version
// 2.38 of the C library on, for C23.

#define SCAN(prefix, next_of_stream, next_of_input)                                              \
  TIMELOOM_WRAPPER(int, prefix##fscanf, FILE* stream, const char* format, ...) {                 \
    WITH_VALUES(format, wrapping()                                                               \
                            ? scan_from(kFscanf, CALLER, stream, format, values, next_of_stream) \
                            : next_of_stream(stream, format, values));                           \
  }                                                                                              \
  TIMELOOM_WRAPPER(int, prefix##vfscanf, FILE* stream, const char* format, va_list values) {     \
    return wrapping() ? scan_from(kVfscanf, CALLER, stream, format, values, next_of_stream)      \
                      : next_of_stream(stream, format, values);                                  \
  }                                                                                              \
  TIMELOOM_WRAPPER(int, prefix##scanf, const char* format, ...) {                                \
    WITH_VALUES(format, wrapping()                                                               \
                            ? scan_from(kScanf, CALLER, stdin, format, values, next_of_stream)   \
                            : next_of_input(format, values));                                    \
  }                                                                                              \
  TIMELOOM_WRAPPER(int, prefix##vscanf, const char* format, va_list values) {                    \
    return wrapping() ? scan_from(kVscanf, CALLER, stdin, format, values, next_of_stream)        \
                      : next_of_input(format, values);                                           \
  }
SCAN(, next_vfscanf, next_vscanf)
SCAN(__isoc99_, next_isoc99_vfscanf, next_isoc99_vscanf)
SCAN(__isoc23_, next_isoc23_vfscanf, next_isoc23_vscanf)
