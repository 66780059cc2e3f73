#include "preload/openmp/ompt_callers.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "record/native/wrapper_interface.hpp"

namespace timeloom::ompt {
namespace {

constexpr std::array<std::string_view, 3> kEntryPoints{"__kmpc_taskloop", "__kmpc_taskloop_5",
                                                       "__kmpc_cancel_barrier"};

// Addresses that were looked up, each with whether it lies in an entry point as its lowest bit, at
// one of a few places: two that share their first place are both kept.
constexpr std::size_t kKnown = 1024;
constexpr std::size_t kPlaces = 4;
constinit std::array<std::atomic<std::uintptr_t>, kKnown> g_known{};

bool look_up(const void* code) noexcept {
  Dl_info info{};
  if (::dladdr(code, &info) == 0 || info.dli_sname == nullptr) return false;
  return std::ranges::find(kEntryPoints, info.dli_sname) != kEntryPoints.end();
}

void remember(std::size_t first, std::uintptr_t known) noexcept {
  for (std::size_t i = first; i < first + kPlaces; ++i) {
    std::uintptr_t none = 0;
    if (g_known[i % kKnown].compare_exchange_strong(none, known, std::memory_order_relaxed)) return;
  }
  g_known[first].store(known, std::memory_order_relaxed);
}

bool is_in_entry_point(const void* code) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  const std::size_t first = address * 31 / 8 % kKnown;
  for (std::size_t i = first; i < first + kPlaces; ++i) {
    const std::uintptr_t found = g_known[i % kKnown].load(std::memory_order_relaxed);
    if (found >> 1 == address) return (found & 1) != 0;
  }
  const bool inside = look_up(code);
  remember(first, address << 1 | (inside ? 1 : 0));
  return inside;
}

struct Search {
  const void* below;                // the return address in the entry point
  bool met = false;                 // it
  const void* caller = nullptr;     // the next one above it
  const void* of_caller = nullptr;  // the one above that
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) noexcept {
  auto& search = *static_cast<Search*>(data);
  const auto* const code = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (!search.met) {
    search.met = code == search.below;
    return _URC_NO_REASON;
  }
  const bool first = search.caller == nullptr;
  (first ? search.caller : search.of_caller) = code;
  return first ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

// GCC's code calls our wrapper of GOMP_taskloop(), that the runtime's, and that the entry point.
const void* caller_of_entry_point(const void* code) noexcept {
  if (code == nullptr || !is_in_entry_point(code)) return code;
  Search search{code};
  _Unwind_Backtrace(visit, &search);
  if (search.caller == nullptr) return code;
  return record::is_own_code(search.of_caller) ? search.of_caller : search.caller;
}

}  // namespace timeloom::ompt
