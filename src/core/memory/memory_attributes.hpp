// The attributes of the calls that allocate and free memory, with the names of Score-P.
//
// An enter or leave of such a call follows events of kind kOperand, one for each of its attributes,
// with the same time. Plain values; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/event.hpp"

namespace timeloom {

// The reference of the event. Other operands have smaller ones (core/mpi/mpi_event.hpp).
enum class MemoryAttribute : std::uint32_t {
  kAllocationSize = 16,    // bytes, as the allocator has rounded them; of the enter
  kDeallocationSize = 17,  // the same; of the leave
  kArgumentAddress = 18,   // of the block that the call is given; of the enter
  kResultAddress = 19,     // of the block that it returns; of the leave
};
inline constexpr std::size_t kMemoryAttributes = 4;

struct MemoryAttributeText {
  const char* name;
  const char* description;
};
inline constexpr std::array<MemoryAttributeText, kMemoryAttributes> kMemoryAttributeTexts = {{
    {"ALLOCATION_SIZE", "Bytes that the call allocates"},
    {"DEALLOCATION_SIZE", "Bytes that the call frees"},
    {"ARGUMENT_ADDRESS", "Address of the block that the call is given"},
    {"RESULT_ADDRESS", "Address of the block that the call returns"},
}};

inline constexpr auto kFirstMemoryAttribute =
    static_cast<std::uint32_t>(MemoryAttribute::kAllocationSize);

constexpr bool is_memory_attribute(std::uint64_t reference) noexcept {
  return reference >= kFirstMemoryAttribute &&
         reference < kFirstMemoryAttribute + kMemoryAttributes;
}
constexpr bool is_memory_attribute(const Event& event) noexcept {
  return event.kind == EventKind::kOperand && is_memory_attribute(event.ref);
}

inline bool has_memory_calls(const Definitions& definitions) noexcept {
  for (const Region& region : definitions.regions) {
    if (region.paradigm == Paradigm::kMemory) return true;
  }
  return false;
}

}  // namespace timeloom
