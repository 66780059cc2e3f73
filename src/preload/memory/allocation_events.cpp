#include "preload/memory/allocation_events.hpp"

#include <cstdint>

#include "os/clock.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {

constinit std::atomic<bool> detail::g_allocation_events = false;
constinit thread_local int detail::t_operators [[gnu::tls_model("initial-exec")]] = 0;

std::uint64_t detail::start_of_call() noexcept { return os::now(); }

namespace {

constexpr record::WrappedFunction of(const char* name, RegionRole role) {
  return {name, "", "MEMORY", Paradigm::kMemory, role};
}
constexpr record::WrappedFunction allocate(const char* name) {
  return of(name, RegionRole::kAllocate);
}
constexpr record::WrappedFunction deallocate(const char* name) {
  return of(name, RegionRole::kDeallocate);
}

// By MemoryCall. The names are Score-P's where it has them.
constinit record::WrappedFunction g_functions[kMemoryCalls] = {
    allocate("malloc"),
    allocate("calloc"),
    of("realloc", RegionRole::kReallocate),
    of("reallocarray", RegionRole::kReallocate),
    deallocate("free"),
    allocate("posix_memalign"),
    allocate("aligned_alloc"),
    allocate("memalign"),
    allocate("valloc"),
    allocate("pvalloc"),
    allocate("operator new(size_t)"),
    allocate("operator new[](size_t)"),
    allocate("operator new(size_t,nothrow_t)"),
    allocate("operator new[](size_t,nothrow_t)"),
    allocate("operator new(size_t,align_val_t)"),
    allocate("operator new[](size_t,align_val_t)"),
    deallocate("operator delete(void*)"),
    deallocate("operator delete[](void*)"),
    deallocate("operator delete(void*,size_t)"),
    deallocate("operator delete[](void*,size_t)"),
    deallocate("operator delete(void*,nothrow_t)"),
    deallocate("operator delete[](void*,nothrow_t)"),
    deallocate("operator delete(void*,align_val_t)"),
    deallocate("operator delete[](void*,align_val_t)"),
    deallocate("operator delete(void*,size_t,align_val_t)"),
    deallocate("operator delete[](void*,size_t,align_val_t)"),
};

// All are defined before the first call: a definition takes the lock of the measurement, which an
// allocation must not wait for.
void switch_events(bool on) noexcept {
  const bool wanted = on && record::records_allocations();
  if (wanted) {
    for (record::WrappedFunction& function : g_functions) record::define(function);
  }
  detail::g_allocation_events = wanted;
}

[[gnu::constructor]] void follow_switch() noexcept { record::on_switch_of_wrapping(switch_events); }

std::uint64_t number_of(const void* block) noexcept {
  return reinterpret_cast<std::uintptr_t>(block);
}

}  // namespace

void AllocationCall::put(const void* caller, const CallFacts& facts) const noexcept {
  using enum MemoryAttribute;
  record::WrappedFunction& function = g_functions[static_cast<std::size_t>(function_)];
  record::WrapperScope scope(record::kAnywhere, caller, began_);
  if (!scope.wanted() || !scope.knows(function)) return;
  const bool allocates = function.role != RegionRole::kDeallocate;
  if (facts.allocated != 0) scope.put_for_enter(kAllocationSize, facts.allocated);
  if (function.role != RegionRole::kAllocate) {
    scope.put_for_enter(kArgumentAddress, number_of(facts.argument));
  }
  scope.enter(function);
  scope.go_on(ended_);
  if (allocates) scope.put_for_leave(kResultAddress, number_of(facts.result));
  if (facts.freed != 0) scope.put_for_leave(kDeallocationSize, facts.freed);
  scope.leave(function);
}

}  // namespace timeloom::preload
