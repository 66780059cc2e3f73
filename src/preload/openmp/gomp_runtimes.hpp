// The copies of GNU's OpenMP runtime in the process, and the places in the program's code that
// call them.
//
// A process may have several: wheels bring copies under names of their own, which are visible to
// their own libraries only. The dynamic linker binds all of them to the wrappers, so each call is
// passed on to the runtime to which the linker has bound the caller's other functions of OpenMP:
// these are not wrapped, and both halves of a construct must reach one runtime.
//
// Runtimes and places are found once and live as long as the process. Any thread, without locks;
// nothing throws.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace timeloom::openmp {

enum class Gomp : std::uint8_t {
#define TIMELOOM_GOMP(NAME) k_##NAME,
#include "preload/openmp/gomp_functions.inc"
#undef TIMELOOM_GOMP
  kCount
};
inline constexpr std::size_t kGompFunctions = static_cast<std::size_t>(Gomp::kCount);

struct Runtime {
  const void* identity;  // of the library
  char name[64];         // "libgomp"
  unsigned (*thread_number)();
  bool unrecorded;  // another runtime than GNU's: it has an interface for tools
  std::array<void*, kGompFunctions> functions;
  Runtime* next;

  template <typename Signature>
  Signature* function(Gomp which) const noexcept {
    return reinterpret_cast<Signature*>(functions[static_cast<std::size_t>(which)]);
  }
};

enum class Construct : std::uint8_t {
  kParallel,
  kFor,
  kSections,
  kSingle,
  kImplicitBarrier,
  kBarrier,
  kCritical,
  kCriticalBlock,
  kAtomic,
  kOrdered,
  kOrderedBlock,
  kTask,
  kCreateTask,
  kTaskwait,
  kTaskgroup,
  kTaskloop,
  kCount
};
inline constexpr std::size_t kConstructs = static_cast<std::size_t>(Construct::kCount);

// A function that a compiler has outlined from a construct, or the return address of a call.
struct Place {
  const void* address;
  Runtime* runtime;  // nullptr: the code there calls no runtime, see runtime_at()
  std::array<std::uint64_t, kConstructs>
      regions{};  // the construct there as a region, see region_state.hpp
  Place* next;
};

Place& place_of(const void* address) noexcept;
// The runtime that a call from there means; never null. A call in the place of a return leaves an
// address in the caller of its function, which may be code that knows nothing of OpenMP. Then the
// runtime is the one of the innermost team or task of the thread, `present`, else the first one.
Runtime& runtime_at(const Place& place, Runtime* present) noexcept;

}  // namespace timeloom::openmp
