// Declarations of the interface of NVIDIA's NVTX that Timeloom uses, so that the build does not
// need its headers. scripts/check/check_cupti.py compares them with the headers. Plain
// declarations.
#pragma once

#include <cstddef>
#include <cstdint>

namespace timeloom::cuda {

enum class NvtxModule : std::int32_t { kCore = 1, kCore2 = 5 };

// Places of functions in the table of the module kCore.
enum class NvtxCore : std::uint32_t {
  kMarkEx = 1,
  kMarkA = 2,
  kMarkW = 3,
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11,
  kNameCategoryA = 12,
  kNameCategoryW = 13
};

// The same for kCore2, whose functions have a domain.
enum class NvtxCore2 : std::uint32_t {
  kMarkEx = 1,
  kRangeStartEx = 2,
  kRangeEnd = 3,
  kRangePushEx = 4,
  kRangePop = 5,
  kNameCategoryA = 8,
  kNameCategoryW = 9,
  kRegisterStringA = 10,
  kRegisterStringW = 11,
  kCreateA = 12,
  kCreateW = 13
};

using NvtxFunction = void (*)();

struct NvtxCallbacks {
  std::size_t size;
  // The table has a pointer to each function's place.
  int (*functions)(NvtxModule module, NvtxFunction*** table, unsigned* count);
};
inline constexpr std::uint32_t kNvtxCallbacks = 1;
using NvtxExports = const void* (*)(std::uint32_t table);

enum class NvtxMessage : std::int32_t { kAscii = 1, kWide = 2, kRegistered = 3 };

struct NvtxAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t colour_type;
  std::uint32_t colour;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  NvtxMessage message_type;
  const void* message;
};

}  // namespace timeloom::cuda
