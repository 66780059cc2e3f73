// The MPI library that the program has loaded, and its functions.
//
// The library is searched among the loaded ones, by its PMPI functions, when a wrapper is first
// called: it may be loaded late, and without being visible to others (RTLD_LOCAL). Of several
// libraries, the first one that is initialised is recorded. Any thread; throws nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "preload/mpi/abi.hpp"

namespace timeloom::mpi {

enum class Function : std::uint16_t {
#define TIMELOOM_MPI(NAME, ...) k##NAME,
#define TIMELOOM_MPI_LATE TIMELOOM_MPI
#define TIMELOOM_MPI_ALWAYS TIMELOOM_MPI
#define TIMELOOM_MPI_LATE_ALWAYS TIMELOOM_MPI
#include "preload/mpi/functions.inc"
#undef TIMELOOM_MPI
#undef TIMELOOM_MPI_LATE
#undef TIMELOOM_MPI_ALWAYS
#undef TIMELOOM_MPI_LATE_ALWAYS
  kCount
};
inline constexpr std::size_t kFunctions = static_cast<std::size_t>(Function::kCount);

// nullptr: no known library has been loaded.
const Abi* abi() noexcept;

// True if a loaded library has the function, and before a library is loaded.
bool may_have(Function function) noexcept;

const char* name_of(Function function) noexcept;  // "MPI_Send"

namespace detail {
extern std::atomic<void*> g_real[kFunctions];
void* find_real(Function function) noexcept;
bool look_whether_passes(Function function, const void* caller) noexcept;
void* real_of(Function function, const void* caller) noexcept;
void* find_called(Function function) noexcept;
bool has_several_libraries() noexcept;  // as far as noticed so far
void look_again() noexcept;             // makes all wrappers search again; in wrappers.cpp
}  // namespace detail

// PMPI_Send for Function::kSend, if it was called before; nullptr: use real().
template <typename Signature>
Signature* known_real(Function function) noexcept {
  return reinterpret_cast<Signature*>(
      detail::g_real[static_cast<std::size_t>(function)].load(std::memory_order_relaxed));
}

// The same in all cases. If the library lacks the function: a function that fails.
template <typename Signature>
Signature* real(Function function) noexcept {
  if (Signature* const known = known_real<Signature>(function)) [[likely]]
    return known;
  return reinterpret_cast<Signature*>(detail::find_real(function));
}

// The same for a call by the program, which gets a message if the library lacks the function.
template <typename Signature>
Signature* called_real(Function function) noexcept {
  if (Signature* const known = known_real<Signature>(function)) [[likely]]
    return known;
  return reinterpret_cast<Signature*>(detail::find_called(function));
}

constexpr bool begins_mpi(Function function) noexcept {
  return function == Function::kInit || function == Function::kInit_thread ||
         function == Function::kSession_init;
}

// True if several libraries are loaded and the code at `caller` uses another one than the recorded
// library. Libraries are counted at the first call of a function, and when a library is queried or
// initialised. Such calls go to passed_real().
inline bool passes(Function function, const void* caller) noexcept {
  const bool rare = begins_mpi(function) || function == Function::kInitialized ||
                    function == Function::kFinalized;
  if (!rare && known_real<void()>(function) != nullptr) [[likely]]
    return false;
  return detail::look_whether_passes(function, caller);
}

template <typename Signature>
Signature* passed_real(Function function, const void* caller) noexcept {
  return reinterpret_cast<Signature*>(detail::real_of(function, caller));
}

}  // namespace timeloom::mpi
