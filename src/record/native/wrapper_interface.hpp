// Recording by wrapper libraries (src/preload): shared objects that stand before other libraries,
// so that calls of functions of these are seen.
//
// They record into the stream of the calling thread, whoever calls, and like native code
// (native_call.hpp) without a lock under which others touch its recorder. A wrapper
//
//   if (!wrapping()) return next(…);           nothing is measured: a load and a branch
//   {
//     WrapperScope scope(caller);              may refuse: see wanted()
//     if (scope.wanted()) scope.enter(function), scope.put(kind, words);
//   }
//   result = next(…);
//   { WrapperScope scope(kAgain); scope.put(…); scope.leave(function); }
//
// (kAgain with the number of the measurement, if the words contain ids of that measurement) keeps
// errno as the wrapped function leaves it. Nothing here throws but call_path().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "core/definitions.hpp"
#include "core/event_word.hpp"
#include "core/memory/memory_attributes.hpp"
#include "record/native/native_call.hpp"

namespace timeloom::record {

namespace detail {
extern constinit std::atomic<bool> g_wrapping;
}  // namespace detail

// Whether wrappers have anything to do: the program runs, and is measured.
inline bool wrapping() noexcept { return detail::g_wrapping.load(std::memory_order_relaxed); }
// Switched by the code that knows where the program begins and ends: the session of a Python, or of
// a program without Python.
void set_wrapping(bool on) noexcept;
// Adds a function, one of four, that is called after wrappers have been switched on, also in a
// forked child that is measured, and before they are switched off; on the thread that switches.
// Where they are on already, it is called at once.
void on_switch_of_wrapping(void (*function)(bool on) noexcept) noexcept;

// A function of the library that is wrapped. Constant but for `state`; lives as long as the
// process.
struct WrappedFunction {
  const char* name;
  const char* group;  // of regions; as Score-P calls it: "POSIX I/O", "MPI"
  const char* file;   // in the place of a source file: POSIX_IO, ISOC, MPI, PTHREAD
  Paradigm paradigm;
  RegionRole role;
  std::uint64_t state = 0;  // as define_in() has left it
};

// The code around this address is ours: nothing that it calls itself is recorded, unlike what a
// library calls for it. REQUIRES: called by a constructor of a library that stays loaded.
void add_own_code(const void* inside) noexcept;
// Whether the code around the address is.
bool is_own_code(const void* inside) noexcept;

// A file that the interpreter reads before the program begins: nothing that is done with the
// descriptor is recorded until it is closed. -1: none.
void set_own_descriptor(int descriptor) noexcept;
namespace detail {
extern constinit std::atomic<int> g_own_descriptor;
}  // namespace detail
inline bool is_own_descriptor(int descriptor) noexcept {
  return descriptor >= 0 && descriptor == detail::g_own_descriptor.load(std::memory_order_relaxed);
}

// Whether this process is the one that is measured, rather than its child between vfork() and
// exec, which has the same memory. Costs a system call.
bool in_measured_process() noexcept;
// The calling thread is about to call vfork(): its child records nothing.
void note_vfork() noexcept;
// The same question as in_measured_process(), the other way round, without a system call on a
// thread that has recorded. REQUIRES: vfork() is called through its wrapper.
bool in_child_of_vfork() noexcept;

// MPI has been initialised so that several threads may call it.
void note_mpi_on_threads() noexcept;
bool has_mpi_on_threads() noexcept;

// The calling thread has another stack for handlers of signals; empty: none.
void use_signal_stack(std::span<const std::byte> stack) noexcept;

// Calls for mutexes and the like are recorded that take at least as many nanoseconds; kNoLocks:
// none.
inline constexpr std::uint64_t kNoLocks = UINT64_MAX;
void record_locks(std::uint64_t least_ns) noexcept;
namespace detail {
extern constinit std::atomic<std::uint64_t> g_least_lock;
}  // namespace detail
inline std::uint64_t least_lock() noexcept {
  return detail::g_least_lock.load(std::memory_order_relaxed);
}

// Whether the wrapper of memory knows the owner of each block, not only of sampled ones. Set before
// wrappers are switched on.
void know_all_blocks(bool all) noexcept;
bool knows_all_blocks() noexcept;

// Whether the wrapper of memory records each allocation and each free as a region. Set before
// wrappers are switched on.
void record_allocations(bool on) noexcept;
bool records_allocations() noexcept;

struct Again {};
inline constexpr Again kAgain{};
struct Anywhere {};
inline constexpr Anywhere kAnywhere{};

// Defines the region of the function in the running measurement, so that its first call need not.
void define(WrappedFunction& function) noexcept;

// A short time in which the calling thread records. Used on one thread; does not nest.
class WrapperScope {
 public:
  // `caller`: the return address of the wrapper. Attaches the thread if it has not recorded yet.
  explicit WrapperScope(const void* caller) noexcept;
  // The same after the call, of a thread that takes part: the first event has the time `began`.
  WrapperScope(const void* caller, std::uint64_t began) noexcept;
  // The same for calls that may happen anywhere, such as allocations: in the dynamic linker, in the
  // recorder itself. Attaches no thread, and waits for nobody: while others visit the recorders,
  // nothing is wanted, and an event counts as lost.
  WrapperScope(Anywhere, const void* caller, std::uint64_t began) noexcept;
  // After the wrapped call, whose start was recorded.
  explicit WrapperScope(Again) noexcept;
  // The same; nothing is wanted if another measurement runs than the one that has the start.
  WrapperScope(Again, std::uint32_t measurement) noexcept;
  ~WrapperScope();
  WrapperScope(const WrapperScope&) = delete;
  WrapperScope& operator=(const WrapperScope&) = delete;

  // False: nothing is measured here or recording is off, our own code is calling, or a handler of a
  // signal that has interrupted a recorder. REQUIRES of the other functions: true,
  // except for put(), put_bytes(), leave() and aggregates(), which do nothing then.
  bool wanted() const noexcept { return recorder_ != nullptr; }

  void enter(WrappedFunction& function) noexcept;
  // Whether enter() finds the function defined.
  bool knows(const WrappedFunction& function) const noexcept;
  // A region that is known by its enter word (region_state.hpp). Its leave may come in a forked
  // child, which has the open regions of its parent, and does nothing if it is not open.
  void enter(EventWord word) noexcept;
  void leave(EventWord word) noexcept;
  // An extended record (core/event_word.hpp) of at most six words, inside the innermost region. All
  // of a scope have the time at which it began.
  void put(ExtendedKind kind, std::initializer_list<std::uint64_t> words) noexcept;
  // Bytes of which no record of put() tells, in the innermost region.
  void put_bytes(BytesOf what, std::uint64_t bytes) noexcept;
  // An attribute of the enter, or of the leave, that comes next. It is not an event of its own.
  void put_for_enter(MemoryAttribute attribute, std::uint64_t value) noexcept;
  void put_for_leave(MemoryAttribute attribute, std::uint64_t value) noexcept;
  // Does nothing if the function has not been entered.
  void leave(WrappedFunction& function) noexcept;
  // Regions that end late (late_end.hpp): settle() comes before the next event of the thread.
  void end_late(LateEnd end) noexcept;
  void settle() noexcept;
  // Later events have the time that it is now, or that it was then.
  void go_on() noexcept;
  void go_on(std::uint64_t then) noexcept;

  // In a profile: the call path, and the call path of another thread below which the next regions
  // lie until kTeamEnd is put. Empty: there is no profile. call_path() throws std::bad_alloc.
  CallPath call_path() const;
  void begin_below(const CallPath& path) noexcept;

  // Whether the calls are aggregated into a profile: then events have no place but metrics.
  bool aggregates() const noexcept;

 private:
  bool takes_events() const noexcept;

  int error_;  // errno
  std::optional<NativeCall> call_;
  ThreadRecorder* recorder_ = nullptr;
  std::uint64_t now_ = 0;
};

// The id of a new handle in the running measurement, and its number; undefined: there is none.
IoHandleId define_io_handle(const IoHandle& handle) noexcept;

}  // namespace timeloom::record
