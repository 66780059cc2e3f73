// An allocator for tests, whose operators new and delete do not call malloc() and free(). Blocks
// lie one behind another, each behind its size, and are never used again.
// With -DNO_SIZES it has no malloc_usable_size(), and hides the sizes from others.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace {

alignas(16) char g_memory[std::size_t{1} << 29];
std::size_t g_used = 0;

void* allocate(std::size_t bytes) {
  const std::size_t all = 16 + (bytes + 15) / 16 * 16;
  char* const head = g_memory + __atomic_fetch_add(&g_used, all, __ATOMIC_RELAXED);
  if (head + all > g_memory + sizeof g_memory) return nullptr;
#ifdef NO_SIZES
  // What the C library takes for the size of its own blocks.
  const std::uint64_t size = UINT64_MAX / 2 | 2;
  std::memcpy(head + 8, &size, sizeof size);
  std::memcpy(head, &bytes, sizeof bytes);
#else
  std::memcpy(head + 8, &bytes, sizeof bytes);
#endif
  return head + 16;
}

std::size_t size_of(void* block) {
  std::size_t bytes = 0;
#ifdef NO_SIZES
  std::memcpy(&bytes, static_cast<char*>(block) - 16, sizeof bytes);
#else
  std::memcpy(&bytes, static_cast<char*>(block) - 8, sizeof bytes);
#endif
  return bytes;
}

}  // namespace

extern "C" {
void* malloc(std::size_t bytes) { return allocate(bytes); }
void free(void*) {}
void* calloc(std::size_t count, std::size_t bytes) { return allocate(count * bytes); }
void* realloc(void* block, std::size_t bytes) {
  void* const larger = allocate(bytes);
  if (block != nullptr && larger != nullptr) {
    std::memcpy(larger, block, bytes < size_of(block) ? bytes : size_of(block));
  }
  return larger;
}
#ifndef NO_SIZES
std::size_t malloc_usable_size(void* block) { return block == nullptr ? 0 : size_of(block); }
#endif
}

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void*) noexcept {}
void operator delete[](void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}
void operator delete[](void*, std::size_t) noexcept {}
