// Each call that allocates or frees memory as a region, with its bytes and addresses as attributes,
// in the form of Score-P's SCOREP_MEMORY_RECORDING.
//
// Any thread, also before any constructor has run. Nothing throws; errno is kept. Events are
// recorded after the call, so that the account finds the call path of the caller.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace timeloom::preload {

enum class MemoryCall : std::uint8_t {
  kMalloc,
  kCalloc,
  kRealloc,
  kReallocArray,
  kFree,
  kPosixMemalign,
  kAlignedAlloc,
  kMemalign,
  kValloc,
  kPvalloc,
  kNew,
  kNewArray,
  kNewNothrow,
  kNewArrayNothrow,
  kNewAligned,
  kNewArrayAligned,
  kDelete,
  kDeleteArray,
  kDeleteSized,
  kDeleteArraySized,
  kDeleteNothrow,
  kDeleteArrayNothrow,
  kDeleteAligned,
  kDeleteArrayAligned,
  kDeleteSizedAligned,
  kDeleteArraySizedAligned,
};
inline constexpr std::size_t kMemoryCalls = 26;

namespace detail {
extern constinit std::atomic<bool> g_allocation_events;
// The operators of C++ that the thread is in: what they call is not recorded.
extern constinit thread_local int t_operators [[gnu::tls_model("initial-exec")]];
std::uint64_t start_of_call() noexcept;
}  // namespace detail

// The bytes and blocks of a call; of nullptr it has no bytes.
struct CallFacts {
  const void* argument = nullptr;  // the block that it frees
  std::uint64_t freed = 0;
  const void* result = nullptr;  // the block that it allocates
  std::uint64_t allocated = 0;
};

// Made before the call of the next function, on the stack of the wrapper.
class AllocationCall {
 public:
  explicit AllocationCall(MemoryCall function) noexcept
      : function_(function),
        began_(detail::g_allocation_events.load(std::memory_order_relaxed) &&
                       detail::t_operators == 0
                   ? detail::start_of_call()
                   : 0) {}
  // Whether the call is recorded.
  bool is_on() const noexcept { return began_ != 0; }
  // The next function has returned.
  void end() noexcept {
    if (is_on()) [[unlikely]]
      ended_ = detail::start_of_call();
  }
  // `caller`: the return address of the wrapper.
  void record(const void* caller, const CallFacts& facts) const noexcept {
    if (is_on()) [[unlikely]]
      put(caller, facts);
  }

 private:
  [[gnu::noinline, gnu::cold]] void put(const void* caller, const CallFacts& facts) const noexcept;

  MemoryCall function_;
  std::uint64_t began_;
  std::uint64_t ended_ = 0;
};

// While an operator new or delete of C++ runs.
class InOperator {
 public:
  InOperator() noexcept { ++detail::t_operators; }
  ~InOperator() { --detail::t_operators; }
  InOperator(const InOperator&) = delete;
  InOperator& operator=(const InOperator&) = delete;
};

}  // namespace timeloom::preload
