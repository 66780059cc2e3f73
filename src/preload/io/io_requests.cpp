// The wrappers of POSIX asynchronous I/O. A request counts when aio_return() returns its number of
// bytes, on the handle that its descriptor had when the request was made.
#include <aio.h>

#include <array>
#include <atomic>

#include "preload/common/next_function.hpp"
#include "preload/io/io_functions.hpp"
#include "preload/io/io_handles.hpp"
#include "record/measurement.hpp"

namespace timeloom::preload {
namespace {

using enum PosixFunction;
using record::WrappedFunction;
using record::wrapping;

// The C library stores the operation in the request, even without lio_listio().
bool transfers(const aiocb& request) noexcept {
  return request.aio_lio_opcode == LIO_READ || request.aio_lio_opcode == LIO_WRITE;
}

// ---- The handles of requests
//
// aio_return() may be called in a signal handler, so the table has neither a lock nor allocated
// memory. The place of a request holds its tag and the handle. A request whose place another one
// has taken is found by its descriptor, which is right unless that has been closed meanwhile.

constexpr unsigned kSlotBits = 12;
constinit std::array<std::atomic<std::uint64_t>, 1u << kSlotBits> g_requests{};

struct RequestSlot {
  std::atomic<std::uint64_t>& value;
  std::uint32_t tag;
};

RequestSlot slot_of(const aiocb& request) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(&request);
  const std::uint64_t measurement = record::measurement_number();
  const std::uint64_t mixed = (address ^ measurement << 48) * 0x9e3779b97f4a7c15;
  return {g_requests[mixed >> (64 - kSlotBits)],
          static_cast<std::uint32_t>(mixed >> (32 - kSlotBits))};
}

// REQUIRES for these functions: inside a WrapperScope that is wanted().
void note_request(const aiocb& request) noexcept {
  const RequestSlot slot = slot_of(request);
  const IoHandleId handle = handle_of(request.aio_fildes);
  const std::uint64_t value = std::uint64_t{slot.tag} << 32 | handle.value();
  slot.value.store(handle.defined() ? value : 0, std::memory_order_relaxed);
}

void note_requests(aiocb* const* requests, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    if (requests[i] != nullptr && transfers(*requests[i])) note_request(*requests[i]);
  }
}

IoHandleId take_request(const aiocb& request) noexcept {
  const RequestSlot slot = slot_of(request);
  std::uint64_t value = slot.value.load(std::memory_order_relaxed);
  if (value == 0 || value >> 32 != slot.tag) return handle_of(request.aio_fildes);
  slot.value.compare_exchange_strong(value, 0, std::memory_order_relaxed);
  return IoHandleId{static_cast<std::uint32_t>(value)};
}

// ---- Calls

void put_transferred(record::WrapperScope& scope, const aiocb& request,
                     std::uint64_t bytes) noexcept {
  const IoHandleId handle = take_request(request);
  if (!handle.defined()) return;
  const auto operation =
      request.aio_lio_opcode == LIO_READ ? IoOperation::kRead : IoOperation::kWrite;
  const std::uint64_t word = io_word(handle.value(), static_cast<std::uint32_t>(operation));
  scope.put(ExtendedKind::kIoBegin,
            {word, request.aio_nbytes, static_cast<std::uint64_t>(request.aio_offset)});
  scope.put(ExtendedKind::kIoComplete, {word, bytes});
}

template <typename Note>
bool begin_request(WrappedFunction& function, const void* caller, Note note) noexcept {
  record::WrapperScope scope(caller);
  if (!scope.wanted()) return false;
  note();
  scope.enter(function);
  return true;
}

// `note` notes the requests that the call makes.
template <typename Note, typename Call>
[[gnu::noinline]] int issue_by(PosixFunction which, const void* caller, Note note, Call call) {
  WrappedFunction& function = function_of(which);
  if (!begin_request(function, caller, note)) return call();
  const int result = call();
  end_call(function);
  return result;
}

template <typename Call>
[[gnu::noinline]] ssize_t return_by(const void* caller, const aiocb* request, Call call) {
  WrappedFunction& function = function_of(kAioReturn);
  const std::uint32_t begun = begin_call(function, caller);
  if (begun == 0) return call();
  const ssize_t result = call();
  record::WrapperScope scope(record::kAgain, begun);
  if (scope.wanted() && transfers(*request)) put_transferred(scope, *request, bytes_of(result));
  scope.leave(function);
  return result;
}

template <typename Call>
[[gnu::noinline]] int region_by(PosixFunction which, const void* caller, Call call) {
  return region_around(function_of(which), caller, call);
}

// Before glibc 2.34 these functions were in a separate library.
constexpr const char* kRealtime = "librt.so.1";
constinit Next<int(aiocb*)> next_aio_read{"aio_read", kRealtime},
    next_aio_read64{"aio_read64", kRealtime}, next_aio_write{"aio_write", kRealtime},
    next_aio_write64{"aio_write64", kRealtime};
constinit Next<int(int, aiocb*)> next_aio_fsync{"aio_fsync", kRealtime},
    next_aio_fsync64{"aio_fsync64", kRealtime}, next_aio_cancel{"aio_cancel", kRealtime},
    next_aio_cancel64{"aio_cancel64", kRealtime};
constinit Next<int(const aiocb*const*, int, const timespec*)> next_aio_suspend{"aio_suspend",
                                                                               kRealtime},
    next_aio_suspend64{"aio_suspend64", kRealtime};
constinit Next<int(const aiocb*)> next_aio_error{"aio_error", kRealtime},
    next_aio_error64{"aio_error64", kRealtime};
constinit Next<ssize_t(aiocb*)> next_aio_return{"aio_return", kRealtime},
    next_aio_return64{"aio_return64", kRealtime};
constinit Next<int(int, aiocb*const*, int, sigevent*)> next_lio_listio{"lio_listio", kRealtime},
    next_lio_listio64{"lio_listio64", kRealtime};

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom;
using namespace timeloom::preload;

// ---- Making requests

#define ISSUE(name, which)                                  \
  TIMELOOM_WRAPPER(int, name, aiocb* request) {             \
    const auto call = [=] { return next_##name(request); }; \
    if (!wrapping()) return call();                         \
    const auto note = [=] { note_request(*request); };      \
    return issue_by(which, CALLER, note, call);             \
  }
ISSUE(aio_read, kAioRead)
ISSUE(aio_read64, kAioRead)
ISSUE(aio_write, kAioWrite)
ISSUE(aio_write64, kAioWrite)

#define LISTIO(name)                                                                           \
  TIMELOOM_WRAPPER(int, name, int mode, aiocb* const* requests, int count, sigevent* signal) { \
    const auto call = [=] { return next_##name(mode, requests, count, signal); };              \
    if (!wrapping()) return call();                                                            \
    const auto note = [=] { note_requests(requests, count); };                                 \
    return issue_by(kLioListio, CALLER, note, call);                                           \
  }
LISTIO(lio_listio)
LISTIO(lio_listio64)

// ---- The results of requests

#define RETURN(name)                                               \
  TIMELOOM_WRAPPER(ssize_t, name, aiocb* request) {                \
    const auto call = [=] { return next_##name(request); };        \
    return wrapping() ? return_by(CALLER, request, call) : call(); \
  }
RETURN(aio_return)
RETURN(aio_return64)

#define ERROR(name)                                                  \
  TIMELOOM_WRAPPER(int, name, const aiocb* request) {                \
    const auto call = [=] { return next_##name(request); };          \
    return wrapping() ? region_by(kAioError, CALLER, call) : call(); \
  }
ERROR(aio_error)
ERROR(aio_error64)

#define SUSPEND(name)                                                                             \
  TIMELOOM_WRAPPER(int, name, const aiocb* const* requests, int count, const timespec* timeout) { \
    const auto call = [=] { return next_##name(requests, count, timeout); };                      \
    return wrapping() ? region_by(kAioSuspend, CALLER, call) : call();                            \
  }
SUSPEND(aio_suspend)
SUSPEND(aio_suspend64)

#define OF_DESCRIPTOR(name, which)                                  \
  TIMELOOM_WRAPPER(int, name, int number, aiocb* request) {         \
    const auto call = [=] { return next_##name(number, request); }; \
    return wrapping() ? region_by(which, CALLER, call) : call();    \
  }
OF_DESCRIPTOR(aio_fsync, kAioFsync)
OF_DESCRIPTOR(aio_fsync64, kAioFsync)
OF_DESCRIPTOR(aio_cancel, kAioCancel)
OF_DESCRIPTOR(aio_cancel64, kAioCancel)
