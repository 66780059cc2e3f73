// The wrappers of functions that make a team, and of those that share its work.
#include "os/clock.hpp"
#include "preload/common/next_function.hpp"
#include "preload/openmp/gomp_teams.hpp"

namespace timeloom::openmp {
namespace {

// The start of a loop or of sections; `call(runtime)` makes the call.
template <typename Call>
auto start_work(Construct kind, const void* caller, Call call) {
  GompCall work(caller);
  push_open({work.runtime(), work.enter(kind), kind});
  return call(*work.runtime());
}

void end_nowait(Construct kind, Gomp which, const void* caller) {
  const OpenConstruct open = pop_open(kind);
  GompCall(caller, open).real<void()>(which)();
  leave_region(open.region);
}

// `Result`: whether the team has been cancelled, where the program asks.
template <typename Result>
Result end_with_barrier(Construct kind, Gomp which, const void* caller) {
  struct Left {
    EventWord barrier, work;
    ~Left() {
      leave_region(barrier);
      leave_region(work);
    }
  };
  const OpenConstruct open = pop_open(kind);
  GompCall call(caller, open);
  const Left left{open.region == 0 ? 0 : call.enter(Construct::kImplicitBarrier), open.region};
  return call.real<Result()>(which)();
}

}  // namespace
}  // namespace timeloom::openmp

using namespace timeloom::openmp;

TIMELOOM_WRAPPER(void, GOMP_parallel, Function* function, void* data, unsigned threads,
                 unsigned flags) {
  run_team({function, data, threads}, CALLER,
           [=](const Runtime& runtime, Function* run, void* own) {
             runtime.function<void(Function*, void*, unsigned, unsigned)>(Gomp::k_parallel)(
                 run, own, threads, flags);
           });
}

TIMELOOM_WRAPPER(unsigned, GOMP_parallel_reductions, Function* function, void* data,
                 unsigned threads, unsigned flags) {
  const Fork fork{function, data, threads, Construct::kParallel, true};
  return run_team(fork, CALLER, [=](const Runtime& runtime, Function* run, void* own) {
    using Signature = unsigned(Function*, void*, unsigned, unsigned);
    return runtime.function<Signature>(Gomp::k_parallel_reductions)(run, own, threads, flags);
  });
}

TIMELOOM_WRAPPER(void, GOMP_parallel_start, Function* function, void* data, unsigned threads) {
  start_team({function, data, threads}, CALLER,
             [=](const Runtime& runtime, Function* run, void* own) {
               runtime.function<void(Function*, void*, unsigned)>(Gomp::k_parallel_start)(run, own,
                                                                                          threads);
             });
}
TIMELOOM_WRAPPER(void, GOMP_parallel_end) { end_parallel(CALLER); }

// All other arguments have the width of a register, or are passed in one.
using Word = long;

// A team whose only work is of one kind. WORDS are the declarations of further arguments.
#define TIMELOOM_TEAM(how, name, kind, TYPES, WORDS, VALUES)                                       \
  TIMELOOM_WRAPPER(void, GOMP_##name, Function* function, void* data, unsigned threads,            \
                   TIMELOOM_LIST WORDS) {                                                          \
    how({function, data, threads, Construct::kind}, CALLER,                                        \
        [=](const Runtime& runtime, Function* run, void* own) {                                    \
          runtime.function<void(Function*, void*, unsigned, TIMELOOM_LIST TYPES)>(Gomp::k_##name)( \
              run, own, threads, TIMELOOM_LIST VALUES);                                            \
        });                                                                                        \
  }
#define TIMELOOM_LIST(...) __VA_ARGS__
#define TIMELOOM_TEAM_1(how, name, kind) TIMELOOM_TEAM(how, name, kind, (Word), (Word a), (a))
#define TIMELOOM_TEAM_2(how, name, kind) \
  TIMELOOM_TEAM(how, name, kind, (Word, Word), (Word a, Word b), (a, b))
#define TIMELOOM_TEAM_3(how, name, kind) \
  TIMELOOM_TEAM(how, name, kind, (Word, Word, Word), (Word a, Word b, Word c), (a, b, c))
#define TIMELOOM_TEAM_4(how, name, kind)                                                     \
  TIMELOOM_TEAM(how, name, kind, (Word, Word, Word, Word), (Word a, Word b, Word c, Word d), \
                (a, b, c, d))
#define TIMELOOM_TEAM_5(how, name, kind)                         \
  TIMELOOM_TEAM(how, name, kind, (Word, Word, Word, Word, Word), \
                (Word a, Word b, Word c, Word d, Word e), (a, b, c, d, e))

TIMELOOM_TEAM_2(run_team, parallel_sections, kSections)
TIMELOOM_TEAM_1(start_team, parallel_sections_start, kSections)
TIMELOOM_TEAM_5(run_team, parallel_loop_static, kFor)
TIMELOOM_TEAM_5(run_team, parallel_loop_dynamic, kFor)
TIMELOOM_TEAM_5(run_team, parallel_loop_guided, kFor)
TIMELOOM_TEAM_5(run_team, parallel_loop_nonmonotonic_dynamic, kFor)
TIMELOOM_TEAM_5(run_team, parallel_loop_nonmonotonic_guided, kFor)
TIMELOOM_TEAM_4(run_team, parallel_loop_runtime, kFor)
TIMELOOM_TEAM_4(run_team, parallel_loop_nonmonotonic_runtime, kFor)
TIMELOOM_TEAM_4(run_team, parallel_loop_maybe_nonmonotonic_runtime, kFor)
TIMELOOM_TEAM_4(start_team, parallel_loop_static_start, kFor)
TIMELOOM_TEAM_4(start_team, parallel_loop_dynamic_start, kFor)
TIMELOOM_TEAM_4(start_team, parallel_loop_guided_start, kFor)
TIMELOOM_TEAM_3(start_team, parallel_loop_runtime_start, kFor)

// A loop of a team, whose result is whether the thread has a part of it.
#define TIMELOOM_LOOP(name, TYPES, WORDS, VALUES)                                               \
  TIMELOOM_WRAPPER(bool, GOMP_##name, TIMELOOM_LIST WORDS) {                                    \
    return start_work(Construct::kFor, CALLER, [=](const Runtime& runtime) {                    \
      return runtime.function<bool(TIMELOOM_LIST TYPES)>(Gomp::k_##name)(TIMELOOM_LIST VALUES); \
    });                                                                                         \
  }
#define TIMELOOM_LOOP_4(name) \
  TIMELOOM_LOOP(name, (Word, Word, Word, Word), (Word a, Word b, Word c, Word d), (a, b, c, d))
#define TIMELOOM_LOOP_5(name)                                                                   \
  TIMELOOM_LOOP(name, (Word, Word, Word, Word, Word), (Word a, Word b, Word c, Word d, Word e), \
                (a, b, c, d, e))
#define TIMELOOM_LOOP_6(name)                               \
  TIMELOOM_LOOP(name, (Word, Word, Word, Word, Word, Word), \
                (Word a, Word b, Word c, Word d, Word e, Word f), (a, b, c, d, e, f))
#define TIMELOOM_LOOP_7(name)                                     \
  TIMELOOM_LOOP(name, (Word, Word, Word, Word, Word, Word, Word), \
                (Word a, Word b, Word c, Word d, Word e, Word f, Word g), (a, b, c, d, e, f, g))
#define TIMELOOM_LOOP_8(name)                                                     \
  TIMELOOM_LOOP(name, (Word, Word, Word, Word, Word, Word, Word, Word),           \
                (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h), \
                (a, b, c, d, e, f, g, h))
#define TIMELOOM_LOOP_9(name)                                                             \
  TIMELOOM_LOOP(name, (Word, Word, Word, Word, Word, Word, Word, Word, Word),             \
                (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i), \
                (a, b, c, d, e, f, g, h, i))
#define TIMELOOM_LOOP_10(name)                                                                    \
  TIMELOOM_LOOP(name, (Word, Word, Word, Word, Word, Word, Word, Word, Word, Word),               \
                (Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j), \
                (a, b, c, d, e, f, g, h, i, j))

TIMELOOM_LOOP_6(loop_static_start)
TIMELOOM_LOOP_6(loop_dynamic_start)
TIMELOOM_LOOP_6(loop_guided_start)
TIMELOOM_LOOP_6(loop_nonmonotonic_dynamic_start)
TIMELOOM_LOOP_6(loop_nonmonotonic_guided_start)
TIMELOOM_LOOP_6(loop_ordered_static_start)
TIMELOOM_LOOP_6(loop_ordered_dynamic_start)
TIMELOOM_LOOP_6(loop_ordered_guided_start)
TIMELOOM_LOOP_5(loop_runtime_start)
TIMELOOM_LOOP_5(loop_nonmonotonic_runtime_start)
TIMELOOM_LOOP_5(loop_maybe_nonmonotonic_runtime_start)
TIMELOOM_LOOP_5(loop_ordered_runtime_start)
TIMELOOM_LOOP_5(loop_doacross_static_start)
TIMELOOM_LOOP_5(loop_doacross_dynamic_start)
TIMELOOM_LOOP_5(loop_doacross_guided_start)
TIMELOOM_LOOP_4(loop_doacross_runtime_start)
TIMELOOM_LOOP_9(loop_start)
TIMELOOM_LOOP_9(loop_ordered_start)
TIMELOOM_LOOP_8(loop_doacross_start)
TIMELOOM_LOOP_7(loop_ull_static_start)
TIMELOOM_LOOP_7(loop_ull_dynamic_start)
TIMELOOM_LOOP_7(loop_ull_guided_start)
TIMELOOM_LOOP_7(loop_ull_nonmonotonic_dynamic_start)
TIMELOOM_LOOP_7(loop_ull_nonmonotonic_guided_start)
TIMELOOM_LOOP_7(loop_ull_ordered_static_start)
TIMELOOM_LOOP_7(loop_ull_ordered_dynamic_start)
TIMELOOM_LOOP_7(loop_ull_ordered_guided_start)
TIMELOOM_LOOP_6(loop_ull_runtime_start)
TIMELOOM_LOOP_6(loop_ull_nonmonotonic_runtime_start)
TIMELOOM_LOOP_6(loop_ull_maybe_nonmonotonic_runtime_start)
TIMELOOM_LOOP_6(loop_ull_ordered_runtime_start)
TIMELOOM_LOOP_5(loop_ull_doacross_static_start)
TIMELOOM_LOOP_5(loop_ull_doacross_dynamic_start)
TIMELOOM_LOOP_5(loop_ull_doacross_guided_start)
TIMELOOM_LOOP_4(loop_ull_doacross_runtime_start)
TIMELOOM_LOOP_10(loop_ull_start)
TIMELOOM_LOOP_10(loop_ull_ordered_start)
TIMELOOM_LOOP_8(loop_ull_doacross_start)

TIMELOOM_WRAPPER(void, GOMP_loop_end) {
  end_with_barrier<void>(Construct::kFor, Gomp::k_loop_end, CALLER);
}
TIMELOOM_WRAPPER(void, GOMP_loop_end_nowait) {
  end_nowait(Construct::kFor, Gomp::k_loop_end_nowait, CALLER);
}
TIMELOOM_WRAPPER(bool, GOMP_loop_end_cancel) {
  return end_with_barrier<bool>(Construct::kFor, Gomp::k_loop_end_cancel, CALLER);
}

TIMELOOM_WRAPPER(unsigned, GOMP_sections_start, unsigned count) {
  return start_work(Construct::kSections, CALLER, [=](const Runtime& runtime) {
    return runtime.function<unsigned(unsigned)>(Gomp::k_sections_start)(count);
  });
}
TIMELOOM_WRAPPER(unsigned, GOMP_sections2_start, unsigned count, void* reductions, void* memory) {
  return start_work(Construct::kSections, CALLER, [=](const Runtime& runtime) {
    using Signature = unsigned(unsigned, void*, void*);
    return runtime.function<Signature>(Gomp::k_sections2_start)(count, reductions, memory);
  });
}
TIMELOOM_WRAPPER(void, GOMP_sections_end) {
  end_with_barrier<void>(Construct::kSections, Gomp::k_sections_end, CALLER);
}
TIMELOOM_WRAPPER(void, GOMP_sections_end_nowait) {
  end_nowait(Construct::kSections, Gomp::k_sections_end_nowait, CALLER);
}
TIMELOOM_WRAPPER(bool, GOMP_sections_end_cancel) {
  return end_with_barrier<bool>(Construct::kSections, Gomp::k_sections_end_cancel, CALLER);
}

// The runtime learns which thread runs the block, and nothing of its end.
TIMELOOM_WRAPPER(bool, GOMP_single_start) {
  const std::uint64_t began = timeloom::os::now();
  GompCall call(CALLER);
  const bool runs = call.real<bool()>(Gomp::k_single_start)();
  if (runs) call.enter_and_leave(Construct::kSingle, began);
  return runs;
}
// With `copyprivate` it is told; the others wait for the copy.
TIMELOOM_WRAPPER(void*, GOMP_single_copy_start) {
  const std::uint64_t began = timeloom::os::now();
  GompCall call(CALLER);
  void* const copied = call.real<void*()>(Gomp::k_single_copy_start)();
  if (copied != nullptr) {
    call.enter_and_leave(Construct::kImplicitBarrier, began);
  } else {
    push_open({call.runtime(), call.enter(Construct::kSingle), Construct::kSingle});
  }
  return copied;
}
TIMELOOM_WRAPPER(void, GOMP_single_copy_end, void* data) {
  const OpenConstruct open = pop_open(Construct::kSingle);
  GompCall call(CALLER, open);
  const timeloom::EventWord barrier =
      open.region == 0 ? 0 : call.enter(Construct::kImplicitBarrier);
  call.real<void(void*)>(Gomp::k_single_copy_end)(data);
  leave_region(barrier);
  leave_region(open.region);
}
