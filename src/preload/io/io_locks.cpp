// The wrappers of the calls that lock files and streams: regions only.
#include <stdio.h>
#include <sys/types.h>

#include "preload/common/next_function.hpp"
#include "preload/io/io_functions.hpp"
#include "preload/io/io_streams.hpp"

namespace timeloom::preload {
namespace {

using record::wrapping;

template <typename Call>
[[gnu::noinline]] auto lock_by(StdioFunction which, const void* caller, FILE* stream, Call call) {
  if (record::is_own_descriptor(descriptor_of(stream))) return call();
  return region_around(function_of(which), caller, call);
}

template <typename Call>
[[gnu::noinline]] int lock_by(const void* caller, Call call) {
  return region_around(function_of(PosixFunction::kLockf), caller, call);
}

constinit Next<int(int, int, off64_t)> next_lockf{"lockf"}, next_lockf64{"lockf64"};
constinit Next<void(FILE*)> next_flockfile{"flockfile"}, next_funlockfile{"funlockfile"};
constinit Next<int(FILE*)> next_ftrylockfile{"ftrylockfile"};

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom;
using namespace timeloom::preload;

#define LOCKF(name)                                                           \
  TIMELOOM_WRAPPER(int, name, int descriptor, int command, off64_t size) {    \
    const auto call = [=] { return next_##name(descriptor, command, size); }; \
    return wrapping() ? lock_by(CALLER, call) : call();                       \
  }
LOCKF(lockf)
LOCKF(lockf64)

#define LOCKFILE(result, name, which)                                  \
  TIMELOOM_WRAPPER(result, name, FILE* stream) {                       \
    const auto call = [=] { return next_##name(stream); };             \
    return wrapping() ? lock_by(which, CALLER, stream, call) : call(); \
  }
LOCKFILE(void, flockfile, StdioFunction::kFlockfile)
LOCKFILE(void, funlockfile, StdioFunction::kFunlockfile)
LOCKFILE(int, ftrylockfile, StdioFunction::kFtrylockfile)
