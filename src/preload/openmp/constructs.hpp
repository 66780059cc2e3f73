// The constructs of OpenMP as regions, and the constructs that a thread of the program is in.
//
// The state belongs to its thread. A wrapper
//
//   GompCall call(CALLER);
//   call.enter(Construct::kBarrier);
//   call.real<void()>(Gomp::k_barrier)();
//   call.leave();
//
// passes the call on whether or not it is recorded. Nothing throws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/event_word.hpp"
#include "preload/common/wrapped_call.hpp"
#include "preload/openmp/gomp_runtimes.hpp"
#include "preload/openmp/ompt_events.hpp"

namespace timeloom::openmp {

using Function = void(void*);  // that a compiler has outlined

// A construct between the calls for its start and its end.
struct Team;

struct OpenConstruct {
  Runtime* runtime = nullptr;
  EventWord region = 0;  // 0: it is not recorded
  Construct kind{};
  Team* team = nullptr;  // of GOMP_parallel_start
};

struct ThreadState {
  Runtime* runtime = nullptr;      // of the innermost team or task
  const void* function = nullptr;  // its outlined function
  std::uint64_t task = 0;          // the number of the explicit task that runs; 0: none
  std::size_t depth = 0;           // of open constructs, also of those beyond the room
  std::array<OpenConstruct, 16> open{};
  char name[48] = {};  // of a thread that a runtime has made
};
extern constinit thread_local ThreadState t_state;

// The enter word of the construct at the place in the running measurement, which has it defined.
// 0: there is no memory.
EventWord region_of(Place& place, Construct construct) noexcept;

inline void push_open(OpenConstruct one) noexcept {
  ThreadState& state = t_state;
  if (state.depth < state.open.size()) state.open[state.depth] = one;
  ++state.depth;
}
// The one that was started last; without a runtime: that is not known, or of another kind.
inline OpenConstruct pop_open(Construct kind) noexcept {
  ThreadState& state = t_state;
  if (state.depth == 0) return {};
  const bool known = state.depth <= state.open.size();
  const OpenConstruct one = known ? state.open[state.depth - 1] : OpenConstruct{};
  if (known && one.kind != kind) return {};
  --state.depth;
  return one;
}
// Leaves the constructs inside the `depth` outer ones: a cancelled team jumps over their ends.
void close_open(std::size_t depth) noexcept;

// Leaves a region that was entered; 0: none was.
inline void leave_region(EventWord region) noexcept {
  if (region != 0) record::WrapperScope(record::kAgain).leave(region);
}

// A runtime that has a tool sees the wrapper as its caller, and the tool looks the program's code
// up.
inline void pass_on_for(const void* caller, const Runtime& runtime) noexcept {
  if (runtime.unrecorded) ompt::t_passed_on_for = caller;
}

class GompCall {
 public:
  // `caller`: the return address of the wrapper.
  explicit GompCall(const void* caller) noexcept
      : caller_(caller), place_(place_of(caller)), runtime_(&runtime_at(place_, t_state.runtime)) {
    pass_on_for(caller, *runtime_);
  }
  // The end of the construct that was started last, whose runtime it belongs to.
  GompCall(const void* caller, const OpenConstruct& open) noexcept
      : caller_(caller),
        place_(place_of(caller)),
        runtime_(open.runtime != nullptr ? open.runtime : &runtime_at(place_, t_state.runtime)) {
    pass_on_for(caller, *runtime_);
  }

  Runtime* runtime() const noexcept { return runtime_; }
  template <typename Signature>
  Signature* real(Gomp which) const noexcept {
    return runtime_->function<Signature>(which);
  }

  // Whether anything is to be recorded.
  bool wanted() const noexcept { return record::wrapping() && !runtime_->unrecorded; }
  // Enters the region of the construct; its enter word, or 0.
  EventWord enter(Construct construct) noexcept { return wanted() ? enter_recorded(construct) : 0; }
  // The same after the call, which has begun then; the region is left, too.
  void enter_and_leave(Construct construct, std::uint64_t began) noexcept;
  // An address in the code of the construct.
  const void* code() const noexcept;
  EventWord region(Construct construct) const noexcept {
    return region_of(place_of(code()), construct);
  }

 private:
  [[gnu::noinline]] EventWord enter_recorded(Construct construct) noexcept;

  const void* caller_;
  Place& place_;
  Runtime* runtime_;
};

}  // namespace timeloom::openmp
