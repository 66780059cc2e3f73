#include "python/observe/memory/python_allocators.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>

#include "python/interpreter/compat.hpp"

namespace timeloom::python {
namespace {

using NoteAllocation = void (*)(std::size_t);
using NoteFree = void (*)();
using SetCaller = const void* (*)(const void*);
// nullptr: nothing is counted.
constinit std::atomic<NoteAllocation> g_note_allocation = nullptr;
constinit std::atomic<NoteFree> g_note_free = nullptr;
constinit std::atomic<SetCaller> g_set_caller = nullptr;

struct Domain {
  PyMemAllocatorDomain domain;
  bool chained = false;
  PyMemAllocatorEx inner{};
};
constinit Domain g_domains[] = {{PYMEM_DOMAIN_RAW}, {PYMEM_DOMAIN_MEM}, {PYMEM_DOMAIN_OBJ}};

// The allocator of one domain calls the next one's for large blocks, which count once.
[[gnu::tls_model("initial-exec")]] constinit thread_local unsigned t_nested = 0;
class Nested {
 public:
  Nested() noexcept : outermost_(t_nested++ == 0) {
    set_caller_ = outermost_ ? g_set_caller.load(std::memory_order_relaxed) : nullptr;
    // Any address in Python, whose blocks these are.
    if (set_caller_ != nullptr) before_ = set_caller_(reinterpret_cast<void*>(&PyMem_RawMalloc));
  }
  ~Nested() {
    if (set_caller_ != nullptr) set_caller_(before_);
    --t_nested;
  }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  void* allocated(void* block, std::size_t bytes) const noexcept {
    NoteAllocation const note = g_note_allocation.load(std::memory_order_relaxed);
    if (outermost_ && block != nullptr && note != nullptr) note(bytes);
    return block;
  }
  void freed(const void* block) const noexcept {
    NoteFree const note = g_note_free.load(std::memory_order_relaxed);
    if (outermost_ && block != nullptr && note != nullptr) note();
  }

 private:
  bool outermost_;
  SetCaller set_caller_;
  const void* before_ = nullptr;
};

const PyMemAllocatorEx& inner_of(void* context) noexcept {
  return static_cast<const Domain*>(context)->inner;
}

void* chained_malloc(void* context, std::size_t bytes) {
  const Nested nested;
  const PyMemAllocatorEx& inner = inner_of(context);
  return nested.allocated(inner.malloc(inner.ctx, bytes), bytes);
}

void* chained_calloc(void* context, std::size_t count, std::size_t bytes) {
  const Nested nested;
  const PyMemAllocatorEx& inner = inner_of(context);
  return nested.allocated(inner.calloc(inner.ctx, count, bytes), count * bytes);
}

// Counts as a new block and a free.
void* chained_realloc(void* context, void* block, std::size_t bytes) {
  const Nested nested;
  const PyMemAllocatorEx& inner = inner_of(context);
  void* const result = inner.realloc(inner.ctx, block, bytes);
  if (result != nullptr) nested.freed(block);
  return nested.allocated(result, bytes);
}

void chained_free(void* context, void* block) {
  const Nested nested;
  nested.freed(block);
  const PyMemAllocatorEx& inner = inner_of(context);
  inner.free(inner.ctx, block);
}

template <typename Function>
Function find_note(const char* name) noexcept {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

void chain(Domain& one) noexcept {
  if (one.chained) return;
  PyMem_GetAllocator(one.domain, &one.inner);
  PyMemAllocatorEx chained{&one, chained_malloc, chained_calloc, chained_realloc, chained_free};
  PyMem_SetAllocator(one.domain, &chained);
  one.chained = true;
}

void unchain(Domain& one) noexcept {
  PyMemAllocatorEx present{};
  PyMem_GetAllocator(one.domain, &present);
  if (!one.chained || present.ctx != &one || present.malloc != chained_malloc) return;
  PyMem_SetAllocator(one.domain, &one.inner);
  one.chained = false;
}

}  // namespace

bool watch_python_memory() noexcept {
  const auto allocation = find_note<NoteAllocation>("timeloom_python_allocation");
  const auto free = find_note<NoteFree>("timeloom_python_free");
  const auto set_caller = find_note<SetCaller>("timeloom_set_caller");
  if (allocation == nullptr || free == nullptr || set_caller == nullptr) return false;
  g_set_caller = set_caller;
  g_note_allocation = allocation;
  g_note_free = free;
  for (Domain& one : g_domains) chain(one);
  return true;
}

void unwatch_python_memory() noexcept {
  if (g_note_free.exchange(nullptr) == nullptr) return;
  g_note_allocation = nullptr;
  g_set_caller = nullptr;
  for (Domain& one : g_domains) unchain(one);
}

}  // namespace timeloom::python
