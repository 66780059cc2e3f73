// A wrapper for each MPI function, in place of the library's: libtimeloom-mpi.so comes before the
// library in the search for symbols.
//
// functions.inc contains for each function: its name, the role of its region, its parameters, its
// arguments, and the call that does the work. Functions newer than MPI 3.1 (LATE) are found only if
// the loaded library has them, because programs test for functions such as MPI_Send_c.
#include <atomic>
#include <cstdint>

#include "preload/mpi/completion.hpp"
#include "preload/mpi/file_access.hpp"
#include "preload/mpi/lifetime.hpp"
#include "preload/mpi/neighbours.hpp"
#include "preload/mpi/one_sided_calls.hpp"

namespace timeloom::mpi {

// While nothing is measured, a wrapper calls the library through Next::by at 0. A choice by index,
// not by a branch, lets the compiler leave arguments on the stack in place.
template <typename Signature>
struct Next {
  std::atomic<Signature*> by[2];  // while nothing is measured, and while something is

  Signature* get() const noexcept {
    return by[record::wrapping() ? 1 : 0].load(std::memory_order_relaxed);
  }
  // Makes all calls of the program go to `real`. A thread that notices another library first sets a
  // flag and then searches again: either it searches after this store, or its flag is seen behind
  // it.
  void pass_to(Signature* real) noexcept {
    by[0] = real;
    if (detail::has_several_libraries()) look_again();
  }
  void look_again() noexcept { by[0] = by[1].load(); }
};

// The path of a wrapper while something is measured, or while the library is not known. A wrapper
// ends in a jump here, so that the return address is its caller's.
#define TIMELOOM_MPI_SEEN(NAME, PARAMETERS, ARGUMENTS, BODY, MAY_PASS)                    \
  [[gnu::noinline]] static int timeloom_seen_##NAME PARAMETERS;                           \
  static constinit Next<int PARAMETERS> timeloom_next_##NAME{                             \
      {&timeloom_seen_##NAME, &timeloom_seen_##NAME}};                                    \
  static int timeloom_seen_##NAME PARAMETERS {                                            \
    const void* const caller = __builtin_return_address(0);                               \
    if (passes(Function::k##NAME, caller)) [[unlikely]]                                   \
      return passed_real<int PARAMETERS>(Function::k##NAME, caller) ARGUMENTS;            \
    auto* const real = called_real<int PARAMETERS>(Function::k##NAME);                    \
    if (MAY_PASS && !record::wrapping() && known_real<int PARAMETERS>(Function::k##NAME)) \
      timeloom_next_##NAME.pass_to(real);                                                 \
    Call call(Function::k##NAME);                                                         \
    (void)call;                                                                           \
    return BODY;                                                                          \
  }

#define TIMELOOM_MPI_PLAIN(NAME, PARAMETERS, ARGUMENTS, BODY, MAY_PASS) \
  TIMELOOM_MPI_SEEN(NAME, PARAMETERS, ARGUMENTS, BODY, MAY_PASS)        \
  [[gnu::visibility("default")]] int MPI_##NAME PARAMETERS {            \
    return timeloom_next_##NAME.get() ARGUMENTS;                        \
  }

#define TIMELOOM_MPI_IF_THERE(NAME, PARAMETERS, ARGUMENTS, BODY, MAY_PASS)                    \
  TIMELOOM_MPI_SEEN(NAME, PARAMETERS, ARGUMENTS, BODY, MAY_PASS)                              \
  static int timeloom_late_##NAME PARAMETERS { return timeloom_next_##NAME.get() ARGUMENTS; } \
  [[gnu::used]] static decltype(&timeloom_late_##NAME) timeloom_find_##NAME() {               \
    return may_have(Function::k##NAME) ? &timeloom_late_##NAME : nullptr;                     \
  }                                                                                           \
  [[gnu::visibility("default"), gnu::ifunc("timeloom_find_" #NAME)]] int MPI_##NAME PARAMETERS;

#define TIMELOOM_MPI(NAME, ROLE, ...) TIMELOOM_MPI_PLAIN(NAME, __VA_ARGS__, true)
#define TIMELOOM_MPI_ALWAYS(NAME, ROLE, ...) TIMELOOM_MPI_PLAIN(NAME, __VA_ARGS__, false)
#define TIMELOOM_MPI_LATE(NAME, ROLE, ...) TIMELOOM_MPI_IF_THERE(NAME, __VA_ARGS__, true)
#define TIMELOOM_MPI_LATE_ALWAYS(NAME, ROLE, ...) TIMELOOM_MPI_IF_THERE(NAME, __VA_ARGS__, false)

extern "C" {
#include "preload/mpi/functions.inc"
}

#undef TIMELOOM_MPI
#undef TIMELOOM_MPI_ALWAYS
#undef TIMELOOM_MPI_LATE
#undef TIMELOOM_MPI_LATE_ALWAYS

void detail::look_again() noexcept {
#define TIMELOOM_MPI(NAME, ...) timeloom_next_##NAME.look_again();
#define TIMELOOM_MPI_LATE TIMELOOM_MPI
#define TIMELOOM_MPI_ALWAYS TIMELOOM_MPI
#define TIMELOOM_MPI_LATE_ALWAYS TIMELOOM_MPI
#include "preload/mpi/functions.inc"
}

}  // namespace timeloom::mpi
