#include "os/own_stack.hpp"

#include <pthread.h>

#include <bit>
#include <cstdint>

namespace timeloom::os {

std::span<const std::byte> own_stack() noexcept {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t size = 0;
  const int error = ::pthread_attr_getstack(&attributes, &low, &size);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) return {};
  return {static_cast<const std::byte*>(low), size};
}

// The GNU C library keeps it in the seventh word, rotated, and changed by a secret of the thread.
const void* stack_pointer_in_jump([[maybe_unused]] const void* buffer) noexcept {
#if defined(__x86_64__) && defined(__GLIBC__)
  constexpr std::size_t kPlace = 6;
  constexpr int kRotated = 17;
  const std::uint64_t word = static_cast<const std::uint64_t*>(buffer)[kPlace];
  std::uint64_t secret = 0;
  __asm__("movq %%fs:0x30, %0" : "=r"(secret));
  return reinterpret_cast<const void*>(std::rotr(word, kRotated) ^ secret);
#else
  return nullptr;
#endif
}

}  // namespace timeloom::os
