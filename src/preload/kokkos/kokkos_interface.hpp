// The binary interface of Kokkos Tools, by which a program that uses Kokkos calls the library that
// KOKKOS_TOOLS_LIBS names. Declared here, so that nothing of Kokkos is needed for the build; the
// functions have C linkage and names that begin with kokkosp_.
#pragma once

#include <cstdint>
#include <type_traits>

namespace timeloom::kokkos {

// Passed by value: the name of a memory space. Ends with a zero unless it fills the array.
struct SpaceHandle {
  char name[64];
};

// Filled in by the tool.
struct ToolSettings {
  bool requires_global_fencing;  // Kokkos waits for all devices before and after each kernel
  bool reserved[255];
};

struct DeviceInfo;

static_assert(sizeof(SpaceHandle) == 64 && sizeof(ToolSettings) == 256);
static_assert(std::is_trivially_copyable_v<SpaceHandle>);

}  // namespace timeloom::kokkos
