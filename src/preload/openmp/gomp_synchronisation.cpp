// The wrappers of barriers, and of blocks that one thread enters at a time.
#include "preload/common/next_function.hpp"
#include "preload/openmp/constructs.hpp"

namespace timeloom::openmp {
namespace {

// `call(real)` calls the function between the enter and the leave of its region.
template <typename Signature, typename Call>
auto wait_in(Construct kind, Gomp which, const void* caller, Call call) {
  struct Left {
    EventWord region;
    ~Left() { leave_region(region); }
  };
  GompCall wait(caller);
  const Left left{wait.enter(kind)};
  return call(wait.real<Signature>(which));
}

// The region lasts from the wait for the block to its end.
template <typename Signature, typename... Arguments>
void start_block(Construct kind, Gomp which, const void* caller, Arguments... arguments) {
  GompCall block(caller);
  push_open({block.runtime(), block.enter(kind), kind});
  block.real<Signature>(which)(arguments...);
}
// The same with a region of the block itself, which begins when the wait has ended. The leave of
// the outer region closes it.
template <typename Signature, typename... Arguments>
void start_block_after_wait(Construct kind, Construct inside, Gomp which, const void* caller,
                            Arguments... arguments) {
  GompCall block(caller);
  const EventWord outer = block.enter(kind);
  push_open({block.runtime(), outer, kind});
  block.real<Signature>(which)(arguments...);
  if (outer != 0) block.enter(inside);
}
template <typename Signature, typename... Arguments>
void end_block(Construct kind, Gomp which, const void* caller, Arguments... arguments) {
  const OpenConstruct open = pop_open(kind);
  GompCall(caller, open).real<Signature>(which)(arguments...);
  leave_region(open.region);
}

}  // namespace
}  // namespace timeloom::openmp

using namespace timeloom::openmp;

TIMELOOM_WRAPPER(void, GOMP_barrier) {
  wait_in<void()>(Construct::kBarrier, Gomp::k_barrier, CALLER, [](auto* real) { real(); });
}
TIMELOOM_WRAPPER(bool, GOMP_barrier_cancel) {
  return wait_in<bool()>(Construct::kBarrier, Gomp::k_barrier_cancel, CALLER,
                         [](auto* real) { return real(); });
}
TIMELOOM_WRAPPER(void, GOMP_taskwait) {
  wait_in<void()>(Construct::kTaskwait, Gomp::k_taskwait, CALLER, [](auto* real) { real(); });
}
TIMELOOM_WRAPPER(void, GOMP_taskwait_depend, void** depend) {
  wait_in<void(void**)>(Construct::kTaskwait, Gomp::k_taskwait_depend, CALLER,
                        [=](auto* real) { real(depend); });
}

TIMELOOM_WRAPPER(void, GOMP_critical_start) {
  start_block_after_wait<void()>(Construct::kCritical, Construct::kCriticalBlock,
                                 Gomp::k_critical_start, CALLER);
}
TIMELOOM_WRAPPER(void, GOMP_critical_end) {
  end_block<void()>(Construct::kCritical, Gomp::k_critical_end, CALLER);
}
TIMELOOM_WRAPPER(void, GOMP_critical_name_start, void** lock) {
  start_block_after_wait<void(void**)>(Construct::kCritical, Construct::kCriticalBlock,
                                       Gomp::k_critical_name_start, CALLER, lock);
}
TIMELOOM_WRAPPER(void, GOMP_critical_name_end, void** lock) {
  end_block<void(void**)>(Construct::kCritical, Gomp::k_critical_name_end, CALLER, lock);
}
TIMELOOM_WRAPPER(void, GOMP_atomic_start) {
  start_block<void()>(Construct::kAtomic, Gomp::k_atomic_start, CALLER);
}
TIMELOOM_WRAPPER(void, GOMP_atomic_end) {
  end_block<void()>(Construct::kAtomic, Gomp::k_atomic_end, CALLER);
}
TIMELOOM_WRAPPER(void, GOMP_ordered_start) {
  start_block_after_wait<void()>(Construct::kOrdered, Construct::kOrderedBlock,
                                 Gomp::k_ordered_start, CALLER);
}
TIMELOOM_WRAPPER(void, GOMP_ordered_end) {
  end_block<void()>(Construct::kOrdered, Gomp::k_ordered_end, CALLER);
}
TIMELOOM_WRAPPER(void, GOMP_taskgroup_start) {
  start_block<void()>(Construct::kTaskgroup, Gomp::k_taskgroup_start, CALLER);
}
TIMELOOM_WRAPPER(void, GOMP_taskgroup_end) {
  end_block<void()>(Construct::kTaskgroup, Gomp::k_taskgroup_end, CALLER);
}
