#include "preload/kokkos/open_kernels.hpp"

#include <algorithm>
#include <atomic>

namespace timeloom::kokkos {
namespace {

// Of all threads together, so that each number is given out once. Not the small numbers that
// programs make up.
constinit std::atomic<std::uint64_t> g_next_kernel = std::uint64_t{1} << 40;

}  // namespace

void OpenKernels::reserve() {
  if (open_.size() >= kMost) open_.erase(open_.begin(), open_.begin() + kMost / 2);
  if (open_.size() == open_.capacity()) open_.reserve(2 * open_.size() + 8);
}

std::uint64_t OpenKernels::begin(record::WrappedFunction& kernel) noexcept {
  const std::uint64_t number = g_next_kernel.fetch_add(1, std::memory_order_relaxed);
  open_.push_back({number, &kernel});
  return number;
}

record::WrappedFunction* OpenKernels::end(std::uint64_t number) noexcept {
  const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                  [&](const Kernel& kernel) { return kernel.number == number; });
  if (found == open_.rend()) return nullptr;
  record::WrappedFunction* const function = found->function;
  open_.erase(std::prev(found.base()), open_.end());
  return function;
}

}  // namespace timeloom::kokkos
