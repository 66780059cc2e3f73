// A wrapper for each function of MPI that takes the place of the library's, as libtimeloom-mpi.so
// comes before it in the search for symbols.
//
// functions.inc has for each: its name, the role of its region, its parameters, its arguments, and
// the call that does the work. Functions that came after MPI 3.1 (LATE) are found only where the
// library that is loaded has them: programs ask whether there is, say, MPI_Send_c.
#include <cstdint>

#include "completion.hpp"
#include "file_access.hpp"
#include "lifetime.hpp"
#include "one_sided.hpp"
#include "neighbours.hpp"

namespace timeloom::mpi {

// Apart from the wrapper, which then takes a few instructions while nothing is measured. It ends in
// a jump here, so that the address to return to is that of its caller.
#define TIMELOOM_MPI_SEEN(NAME, PARAMETERS, ARGUMENTS, BODY)                   \
  [[gnu::noinline]] static int timeloom_seen_##NAME PARAMETERS {               \
    const void* const caller = __builtin_return_address(0);                    \
    if (passes(Function::k##NAME, caller)) [[unlikely]]                        \
      return passed_real<int PARAMETERS>(Function::k##NAME, caller) ARGUMENTS; \
    auto* const real = called_real<int PARAMETERS>(Function::k##NAME);         \
    Call call(Function::k##NAME);                                              \
    (void)call;                                                                \
    return BODY;                                                               \
  }

#define TIMELOOM_MPI_BODY(NAME, PARAMETERS, ARGUMENTS, MAY_PASS)          \
  {                                                                       \
    if (auto* const real = known_real<int PARAMETERS>(Function::k##NAME); \
        MAY_PASS && real != nullptr && !record::wrapping()) [[likely]]    \
      return real ARGUMENTS;                                              \
    return timeloom_seen_##NAME ARGUMENTS;                                \
  }

#define TIMELOOM_MPI_PLAIN(NAME, PARAMETERS, ARGUMENTS, BODY, MAY_PASS)                        \
  TIMELOOM_MPI_SEEN(NAME, PARAMETERS, ARGUMENTS, BODY)                                         \
  [[gnu::visibility("default")]] int MPI_##NAME PARAMETERS TIMELOOM_MPI_BODY(NAME, PARAMETERS, \
                                                                             ARGUMENTS, MAY_PASS)

#define TIMELOOM_MPI_IF_THERE(NAME, PARAMETERS, ARGUMENTS, BODY, MAY_PASS)                  \
  TIMELOOM_MPI_SEEN(NAME, PARAMETERS, ARGUMENTS, BODY)                                      \
  static int timeloom_late_##NAME PARAMETERS TIMELOOM_MPI_BODY(NAME, PARAMETERS, ARGUMENTS, \
                                                               MAY_PASS)                    \
      [[gnu::used]] static decltype(&timeloom_late_##NAME) timeloom_find_##NAME() {         \
    return may_have(Function::k##NAME) ? &timeloom_late_##NAME : nullptr;                   \
  }                                                                                         \
  [[gnu::visibility("default"), gnu::ifunc("timeloom_find_" #NAME)]] int MPI_##NAME PARAMETERS;

#define TIMELOOM_MPI(NAME, ROLE, ...) TIMELOOM_MPI_PLAIN(NAME, __VA_ARGS__, true)
#define TIMELOOM_MPI_ALWAYS(NAME, ROLE, ...) TIMELOOM_MPI_PLAIN(NAME, __VA_ARGS__, false)
#define TIMELOOM_MPI_LATE(NAME, ROLE, ...) TIMELOOM_MPI_IF_THERE(NAME, __VA_ARGS__, true)
#define TIMELOOM_MPI_LATE_ALWAYS(NAME, ROLE, ...) TIMELOOM_MPI_IF_THERE(NAME, __VA_ARGS__, false)

extern "C" {
#include "functions.inc"
}

}  // namespace timeloom::mpi
