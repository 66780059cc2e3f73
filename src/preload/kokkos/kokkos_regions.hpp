// The regions of a program that uses Kokkos: its kernels, its regions, copies of data, fences and
// allocations. Kokkos names them by texts, so a region is found by its kind and name.
//
// Any thread. A region lives as long as the process. Only readable_name() throws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "record/native/wrapper_interface.hpp"

namespace timeloom::kokkos {

enum class RegionKind : std::uint8_t {
  kParallelFor,
  kParallelReduce,
  kParallelScan,
  kRegion,  // of the user, or a section
  kCopy,    // between memory spaces
  kFence,
  kAllocate,
  kDeallocate
};

// nullptr: there is no memory for it. Costs a look-up under a lock.
record::WrappedFunction* find_region(RegionKind kind, std::string_view name) noexcept;

// The name for people: Kokkos passes the mangled name of a type for a kernel that the user has not
// named, or two with a slash between them, the functor and its tag. Other names stay as they are.
// Throws std::bad_alloc.
std::string readable_name(std::string_view name);

}  // namespace timeloom::kokkos
