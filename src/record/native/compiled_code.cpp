#include "record/native/compiled_code.hpp"

#include <link.h>

#include <atomic>
#include <cerrno>
#include <exception>
#include <mutex>

#include "os/thread.hpp"
#include "record/measurement_state.hpp"
#include "record/native/code_region.hpp"
#include "record/native/code_table.hpp"
#include "record/native/native_call.hpp"
#include "record/native/wrapper_interface.hpp"
#include "record/region_state.hpp"

// What compilers call; under these names in libtimeloom.so, for code that is linked with it.
extern "C" {
[[gnu::visibility("default")]] void __cyg_profile_func_enter(void* function, void* caller);
[[gnu::visibility("default")]] void __cyg_profile_func_exit(void* function, void* caller);
}

namespace timeloom::record {
namespace {

constinit CodeTable g_code;
constinit std::mutex g_mutex;  // guards changes of the table; held while nothing else is called
constinit std::atomic<LeavesOut> g_leaves_out = nullptr;
constinit std::atomic<unsigned long long> g_unloaded = 0;  // objects of which is known

// Before other handlers: in the child, a measurement begins in one.
[[gnu::constructor(199)]] void handle_forks_of_compiled_code() {
  constexpr auto kUnlock = [] { g_mutex.unlock(); };
  os::at_fork([] { g_mutex.lock(); }, kUnlock, kUnlock);
}

// The handler of a signal may have interrupted the recorder of its thread anywhere.
bool is_interrupted(const ThreadRecorder& recorder, const void* frame) noexcept {
  return recorder.is_recording() || recorder.on_signal_stack(frame);
}

// Whether the calling thread may record now. REQUIRES: a measurement runs.
bool may_record(const void* frame) noexcept {
  const ThreadRecorder& present = *t_recorder;
  if (present.vforked() && in_child_of_vfork()) return false;
  return !is_interrupted(present, frame) && !is_kept_off() && !state().mutex.is_mine();
}

void put(const void* function, EventWord word, std::uint32_t number) noexcept {
  const std::lock_guard lock(g_mutex);
  if (active() && number == measurement_number()) g_code.put(function, word);
}

// Without memory the function is not recorded this time.
EventWord define_function(const void* function) noexcept try {
  const KeepOff of_allocation;
  forget_unloaded_code();
  const std::uint32_t number = measurement_number();
  const LeavesOut leaves_out = g_leaves_out;
  EventWord word = kLeftOutCode;
  if (leaves_out == nullptr || !leaves_out(function)) {
    std::uint64_t state = 0;
    define_code_region(state, {.address = function});
    word = known_word(state, number);
  }
  if (word != kUnknownCode) put(function, word, number);
  return word;
} catch (const std::exception&) {
  return kUnknownCode;
}

EventWord word_of_function(const void* function) noexcept {
  const EventWord word = g_code.word(function);
  return word != kUnknownCode ? word : define_function(function);
}

bool is_region_word(EventWord word) noexcept {
  return word != kUnknownCode && word != kLeftOutCode;
}

// What an event needs beside its record may wait for the mutex. Ends the call of the recorder.
[[gnu::noinline, gnu::cold]] void enter_rarely(ThreadRecorder& recorder, EventWord word,
                                               const void* frame) noexcept {
  const int error_number = errno;
  if (!state().mutex.is_mine()) {
    recorder.enter(code_token(word), word);
    recorder.set_frame_of(code_token(word), frame);
  }
  errno = error_number;
  recorder.end_native_call();
}

[[gnu::noinline, gnu::cold]] void leave_rarely(ThreadRecorder& recorder, EventWord word,
                                               std::uint64_t now) noexcept {
  const int error_number = errno;
  const Token token = code_token(word);
  if (!state().mutex.is_mine() && !recorder.leave_last(token, now)) recorder.leave_outer(token);
  errno = error_number;
}

// An event that may_record() refuses is lost if it is in the handler of a signal. In a profile, the
// recorder itself may call allocation functions of the program, which must not count.
void count_lost_event(EventWord word, const void* frame) noexcept {
  ThreadRecorder& present = *t_recorder;
  const bool wanted = is_region_word(word) || (word == kUnknownCode && g_leaves_out == nullptr);
  if (!wanted || !recording() || !present.attached() || present.vforked()) return;
  const bool in_handler = present.on_signal_stack(frame) || !present.aggregates();
  if (in_handler && is_interrupted(present, frame)) present.count_lost_event();
}

// The first event of a function or of a thread, and all without a measurement.
[[gnu::noinline, gnu::cold]] void enter_slowly(const void* function, const void* frame,
                                               EventWord known) noexcept {
  if (!active()) return;
  const void* const own_frame = __builtin_frame_address(0);
  if (!may_record(own_frame)) return count_lost_event(known, own_frame);
  const int error_number = errno;
  if (const EventWord word = word_of_function(function); is_region_word(word)) {
    const NativeCall call;
    if (call.recorder() != nullptr) {
      recording() ? call.recorder()->enter(code_token(word), word)
                  : call.recorder()->enter_unrecorded(code_token(word));
      call.recorder()->set_frame_of(code_token(word), frame);
    }
  }
  errno = error_number;
}

// Nothing is open of a function that has never been entered.
[[gnu::noinline, gnu::cold]] void leave_slowly(const void* function, EventWord known) noexcept {
  if (!active()) return;
  const void* const own_frame = __builtin_frame_address(0);
  if (!may_record(own_frame)) return count_lost_event(known, own_frame);
  if (!g_code.has(function)) return;
  const int error_number = errno;
  if (const EventWord word = word_of_function(function); is_region_word(word)) {
    const NativeCall call;
    if (call.recorder() != nullptr) {
      recording() ? void(call.recorder()->leave(code_token(word)))
                  : call.recorder()->leave_unrecorded(code_token(word));
    }
  }
  errno = error_number;
}

// True: the recorder of the thread, in a call, takes an event of this word at once.
inline bool begin_event(ThreadRecorder& recorder, EventWord word, const void* frame) noexcept {
  if (word == kUnknownCode || !recorder.attached() || !recording() || recorder.vforked() ||
      is_interrupted(recorder, frame)) [[unlikely]]
    return false;
  if (begin_native_call(recorder)) [[likely]]
    return true;
  recorder.end_native_call();
  return false;
}

// These two are apart so that functions that are left out need no stack frame. Rare cases are calls
// at the end, before which nothing need be kept: the other path needs no stack frame either.
[[gnu::noinline]] void record_enter(const void* function, const void* frame,
                                    EventWord word) noexcept {
  ThreadRecorder& recorder = *t_recorder;
  if (!begin_event(recorder, word, frame)) [[unlikely]]
    return enter_slowly(function, frame, word);
  const bool counter = os::detail::g_counter_used.load(std::memory_order_relaxed);
  if (!counter || !recorder.enter_at_once(code_token(word), word, os::counter())) [[unlikely]]
    return enter_rarely(recorder, word, frame);
  recorder.set_frame(frame);
  recorder.end_native_call();
}

[[gnu::noinline]] void record_leave(const void* function, EventWord word) noexcept {
  ThreadRecorder& recorder = *t_recorder;
  if (!begin_event(recorder, word, __builtin_frame_address(0))) [[unlikely]]
    return leave_slowly(function, word);
  const std::uint64_t now = os::now();
  if (!recorder.leave_at_once(code_token(word), now)) [[unlikely]]
    leave_rarely(recorder, word, now);
  recorder.end_native_call();
}

}  // namespace

void enter_function(const void* function, const void* frame) noexcept {
  const std::atomic<EventWord>* const known = g_code.word_at_once(function);
  if (known == nullptr) [[unlikely]]
    return record_enter(function, frame, kUnknownCode);
  const EventWord word = known->load(std::memory_order_relaxed);
  if (word != kLeftOutCode) record_enter(function, frame, word);
}

void leave_function(const void* function) noexcept {
  const std::atomic<EventWord>* const known = g_code.word_at_once(function);
  if (known == nullptr) [[unlikely]]
    return record_leave(function, kUnknownCode);
  const EventWord word = known->load(std::memory_order_relaxed);
  if (word != kLeftOutCode) record_leave(function, word);
}

void end_functions_below(const void* frame) noexcept {
  const ThreadRecorder& present = *t_recorder;
  if (!active() || !present.attached() || !present.may_close_below(frame)) return;
  if (!may_record(__builtin_frame_address(0))) return;
  const int error_number = errno;
  {
    const NativeCall call;
    if (call.recorder() != nullptr) call.recorder()->close_below(frame, recording());
  }
  errno = error_number;
}

void leave_out_functions(LeavesOut function) noexcept { g_leaves_out = function; }

void forget_code() noexcept {
  const std::lock_guard lock(g_mutex);
  g_code.forget();
}

// The dynamic linker counts the objects that it has unloaded.
void forget_unloaded_code() noexcept {
  unsigned long long unloaded = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* count) {
        *static_cast<unsigned long long*>(count) = info->dlpi_subs;
        return 1;
      },
      &unloaded);
  if (g_unloaded.exchange(unloaded) != unloaded) forget_code();
}

}  // namespace timeloom::record

void __cyg_profile_func_enter(void* function, void*) {
  timeloom::record::enter_function(function, __builtin_dwarf_cfa());
}
void __cyg_profile_func_exit(void* function, void*) { timeloom::record::leave_function(function); }
