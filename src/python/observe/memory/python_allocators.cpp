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
// Not PYMEM_DOMAIN_RAW: its blocks come from malloc, and its callers need not hold the GIL, without
// which its allocator cannot be exchanged.
constinit Domain g_mem{PYMEM_DOMAIN_MEM};
constinit Domain g_obj{PYMEM_DOMAIN_OBJ};

// The domain whose chained_malloc() this thread called last.
[[gnu::tls_model("initial-exec")]] constinit thread_local const Domain* t_reached = nullptr;

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

// They ignore the context, which is the inner allocator's: another thread may read the functions
// and the context while one of them is exchanged.
template <Domain& one>
void* chained_malloc(void*, std::size_t bytes) {
  t_reached = &one;
  const Nested nested;
  return nested.allocated(one.inner.malloc(one.inner.ctx, bytes), bytes);
}

template <Domain& one>
void* chained_calloc(void*, std::size_t count, std::size_t bytes) {
  const Nested nested;
  return nested.allocated(one.inner.calloc(one.inner.ctx, count, bytes), count * bytes);
}

// Counts as a new block and a free.
template <Domain& one>
void* chained_realloc(void*, void* block, std::size_t bytes) {
  const Nested nested;
  void* const result = one.inner.realloc(one.inner.ctx, block, bytes);
  if (result != nullptr) nested.freed(block);
  return nested.allocated(result, bytes);
}

template <Domain& one>
void chained_free(void*, void* block) {
  const Nested nested;
  nested.freed(block);
  one.inner.free(one.inner.ctx, block);
}

template <typename Function>
Function find_note(const char* name) noexcept {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

bool is_same(const PyMemAllocatorEx& one, const PyMemAllocatorEx& other) noexcept {
  return one.ctx == other.ctx && one.malloc == other.malloc;
}

// Whether a block comes through our function, which may lie behind an allocator of the program.
bool is_reached(const Domain& one) noexcept {
  t_reached = nullptr;
  if (one.domain == PYMEM_DOMAIN_MEM) {
    PyMem_Free(PyMem_Malloc(8));
  } else {
    PyObject_Free(PyObject_Malloc(8));
  }
  return t_reached == &one;
}

// Again, too, where the program has put back an allocator meanwhile that does not call ours: the
// inner one, or one from before it, as tracemalloc.stop() does.
template <Domain& one>
void chain() noexcept {
  PyMemAllocatorEx present{};
  PyMem_GetAllocator(one.domain, &present);
  const bool put_back = one.chained && is_same(present, one.inner);
  if (one.chained && !put_back && is_reached(one)) return;
  if (!put_back) one.inner = present;
  PyMemAllocatorEx chained{one.inner.ctx, chained_malloc<one>, chained_calloc<one>,
                           chained_realloc<one>, chained_free<one>};
  PyMem_SetAllocator(one.domain, &chained);
  one.chained = true;
}

template <Domain& one>
void unchain() noexcept {
  PyMemAllocatorEx present{};
  PyMem_GetAllocator(one.domain, &present);
  if (!one.chained || present.malloc != chained_malloc<one>) return;
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
  chain<g_mem>();
  chain<g_obj>();
  return true;
}

bool unwatch_python_memory() noexcept {
  if (g_note_free.exchange(nullptr) == nullptr) return true;
  g_note_allocation = nullptr;
  g_set_caller = nullptr;
  const bool reached = is_reached(g_mem) && is_reached(g_obj);
  unchain<g_mem>();
  unchain<g_obj>();
  return reached;
}

}  // namespace timeloom::python
