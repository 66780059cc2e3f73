// The functions of the C library that allocate memory, C++'s operator new, and mappings of memory.
//
// The dynamic linker calls them before any constructor has run. Looking up the function behind a
// wrapper may allocate, too: such blocks come from a small buffer.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "preload/common/next_function.hpp"
#include "preload/memory/account.hpp"
#include "preload/memory/allocation_events.hpp"

#define CALLER __builtin_return_address(0)

namespace timeloom::preload {
namespace {

// The functions without which no other can be looked up.
struct Allocator {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  std::size_t (*size)(void*);  // nullptr: the allocator has none, and its blocks are not noted
};
constinit Allocator g_next{};
constinit std::atomic<bool> g_found = false;
constinit thread_local bool t_finding [[gnu::tls_model("initial-exec")]] = false;
// The caller of operator new, which allocates by malloc(), or of an allocator of Python.
constinit thread_local const void* t_caller_of_new [[gnu::tls_model("initial-exec")]] = nullptr;
// A function of C has allocated on this thread: cleared before each call of an operator new.
constinit thread_local bool t_noted [[gnu::tls_model("initial-exec")]] = false;
// The operators new of jemalloc and tcmalloc, which do not call malloc().
constinit std::atomic<bool> g_new_allocates = false;

// Blocks of a look-up: never freed, each behind its size.
class EarlyBlocks {
 public:
  void* allocate(std::size_t bytes) noexcept {
    constexpr std::size_t kHead = alignof(std::max_align_t);
    if (bytes > sizeof memory_) return nullptr;
    const std::size_t all = kHead + (bytes + kHead - 1) / kHead * kHead;
    const std::size_t at = used_.fetch_add(all);
    if (at + all > sizeof memory_) return nullptr;
    std::memcpy(memory_ + at, &bytes, sizeof bytes);
    return memory_ + at + kHead;
  }
  bool has(const void* block) const noexcept {
    const auto* const at = static_cast<const std::byte*>(block);
    return at >= memory_ && at < memory_ + sizeof memory_;
  }
  static std::size_t size(const void* block) noexcept {
    std::size_t bytes = 0;
    std::memcpy(&bytes, static_cast<const std::byte*>(block) - alignof(std::max_align_t),
                sizeof bytes);
    return bytes;
  }

 private:
  alignas(std::max_align_t) std::byte memory_[65536] = {};
  std::atomic<std::size_t> used_ = 0;
};
constinit EarlyBlocks g_early;

template <typename Function>
void find(Function*& function, const char* name) noexcept {
  function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Whether a library has both, so that one function knows the blocks of the other.
bool are_of_one_library(const void* one, const void* other) noexcept {
  Dl_info first{}, second{};
  return ::dladdr(one, &first) != 0 && ::dladdr(other, &second) != 0 &&
         first.dli_fbase == second.dli_fbase;
}

// Any number of threads may do so at once: they find the same.
[[gnu::noinline, gnu::cold]] void find_allocator() noexcept {
  t_finding = true;
  Allocator found{};
  find(found.malloc, "malloc");
  find(found.calloc, "calloc");
  find(found.realloc, "realloc");
  find(found.free, "free");
  find(found.size, "malloc_usable_size");
  if (!are_of_one_library(reinterpret_cast<void*>(found.malloc),
                          reinterpret_cast<void*>(found.size))) {
    found.size = nullptr;
    note_foreign_allocator();
  }
  g_next = found;
  g_found.store(true, std::memory_order_release);
  t_finding = false;
}

// False: the calling thread is looking them up.
inline bool has_allocator() noexcept {
  if (g_found.load(std::memory_order_acquire)) [[likely]]
    return true;
  if (t_finding) return false;
  find_allocator();
  return true;
}

// 0: no block is there, or the allocator does not tell.
std::size_t size_of(void* block) noexcept {
  return block == nullptr || g_next.size == nullptr ? 0 : g_next.size(block);
}

// `call`, which has returned the block, is recorded.
void* noted(void* block, const void* caller, AllocationCall& call) noexcept {
  call.end();
  t_noted = true;
  const std::size_t bytes = size_of(block);
  if (block != nullptr && g_next.size != nullptr) note_allocation(block, bytes, caller);
  call.record(caller, {.result = block, .allocated = bytes});
  return block;
}

// Before the block is given back, as another thread may have it right after that. Returns its
// bytes.
std::size_t note_gone(void* block, const void* caller) noexcept {
  const std::size_t bytes = size_of(block);
  if (g_next.size != nullptr) note_free(block, bytes, caller);
  return bytes;
}

const void* caller_of(const void* caller) noexcept {
  return t_caller_of_new == nullptr ? caller : t_caller_of_new;
}

void* allocate_again(void* block, std::size_t bytes, const void* caller,
                     AllocationCall call) noexcept {
  if (g_early.has(block)) {
    void* const larger = noted(g_next.malloc(bytes), caller, call);
    if (larger != nullptr) std::memcpy(larger, block, std::min(bytes, EarlyBlocks::size(block)));
    return larger;
  }
  if (block == nullptr || g_next.size == nullptr) {
    return noted(g_next.realloc(block, bytes), caller, call);
  }
  const std::size_t before = g_next.size(block);
  note_free(block, before, caller);  // before the call, see note_gone()
  void* const result = g_next.realloc(block, bytes);
  call.end();
  const std::size_t after = size_of(result);
  const bool same = result == nullptr && bytes != 0;  // it has failed, and the block is as it was
  if (result != nullptr) {
    note_allocation(result, after, caller);
  } else if (same) {
    note_allocation(block, before, caller);
  }
  call.record(caller, {block, same ? 0 : before, result, after});
  return result;
}

class CallerOfNew {
 public:
  explicit CallerOfNew(const void* caller) noexcept : before_(t_caller_of_new) {
    if (before_ == nullptr) t_caller_of_new = caller;  // one of them may call another
    t_noted = false;
  }
  ~CallerOfNew() { t_caller_of_new = before_; }
  // The block that the operator returns, which is noted unless a function of C has allocated it.
  void* noted(void* block, AllocationCall& call) const noexcept {
    call.end();
    if (block == nullptr || !has_allocator()) return block;
    const std::size_t bytes = size_of(block);
    if (!t_noted && g_next.size != nullptr) {
      g_new_allocates.store(true, std::memory_order_relaxed);
      t_noted = true;
      note_allocation(block, bytes, t_caller_of_new);
    }
    call.record(t_caller_of_new, {.result = block, .allocated = bytes});
    return block;
  }
  CallerOfNew(const CallerOfNew&) = delete;
  CallerOfNew& operator=(const CallerOfNew&) = delete;

 private:
  const void* before_;
  const InOperator in_operator_;
};

// The operator calls free(), unless it is the operator of an allocator that has its own new.
template <typename Delete>
void delete_in_region(AllocationCall& call, void* block, const void* caller, Delete next) noexcept {
  const bool known = block != nullptr && !g_early.has(block) && has_allocator();
  const std::size_t bytes = known ? size_of(block) : 0;
  if (known && g_new_allocates.load(std::memory_order_relaxed)) note_gone(block, caller);
  {
    const InOperator in_operator;
    next();
  }
  call.end();
  if (block != nullptr) call.record(caller, {.argument = block, .freed = bytes});
}

constinit Next<int(void**, std::size_t, std::size_t)> next_posix_memalign{"posix_memalign"};
constinit Next<void*(std::size_t, std::size_t)> next_aligned_alloc{"aligned_alloc"},
    next_memalign{"memalign"};
constinit Next<void*(std::size_t)> next_valloc{"valloc"}, next_pvalloc{"pvalloc"};
constinit Next<void*(void*, std::size_t, int, int, int, off_t)> next_mmap{"mmap"},
    next_mmap64{"mmap64"};
constinit Next<int(void*, std::size_t)> next_munmap{"munmap"};
constinit Next<void*(void*, std::size_t, std::size_t, int, void*)> next_mremap{"mremap"};

constexpr std::size_t kLeastMapping = 1 << 20;

constexpr std::size_t kPage = 4096;

std::size_t whole_pages(std::size_t bytes) noexcept { return (bytes + kPage - 1) / kPage * kPage; }

// Memory that is taken from the system: not address space that is only reserved, and no file.
bool is_memory(std::size_t bytes, int protection, int flags) noexcept {
  return bytes >= kLeastMapping && (protection & PROT_WRITE) != 0 && (flags & MAP_ANONYMOUS) != 0 &&
         (flags & MAP_NORESERVE) == 0;
}

void* noted_mapping(void* begin, std::size_t bytes, int protection, int flags,
                    const void* caller) noexcept {
  if (begin == MAP_FAILED) return begin;
  if ((flags & MAP_FIXED) != 0) (void)note_unmapped(begin, whole_pages(bytes), caller);
  if (is_memory(bytes, protection, flags)) note_mapped(begin, whole_pages(bytes), caller);
  return begin;
}

// An allocator in the program itself comes before this library. A program that is not built
// position-independent may have an entry for it in its table of calls instead, which leads here:
// the address of the function in the whole process, with an undefined symbol.
// The account calls them with its lock held, and dlsym() takes the dynamic linker's.
[[gnu::constructor]] void look_up_mappings() noexcept {
  (void)next_mmap(nullptr, 0, PROT_NONE, 0, -1, 0);
  (void)next_munmap(nullptr, 0);
}

[[gnu::constructor]] void find_foreign_allocator() noexcept {
  Dl_info own{}, first{};
  void* entry = nullptr;
  void* const function = ::dlsym(RTLD_DEFAULT, "malloc");
  if (function == nullptr) return;
  if (::dladdr1(function, &first, &entry, RTLD_DL_SYMENT) == 0) return;
  const auto* const symbol = static_cast<const ElfW(Sym)*>(entry);
  if (symbol != nullptr && symbol->st_shndx == SHN_UNDEF) return;
  if (::dladdr(reinterpret_cast<void*>(&find_foreign_allocator), &own) == 0) return;
  if (first.dli_fbase != own.dli_fbase) note_foreign_allocator();
}

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom::preload;

TIMELOOM_WRAPPER(void*, malloc, std::size_t bytes) {
  if (!has_allocator()) return g_early.allocate(bytes);
  AllocationCall call(MemoryCall::kMalloc);
  return noted(g_next.malloc(bytes), caller_of(CALLER), call);
}
TIMELOOM_WRAPPER(void*, calloc, std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (!has_allocator()) {
    return __builtin_mul_overflow(count, bytes, &all) ? nullptr : g_early.allocate(all);
  }
  AllocationCall call(MemoryCall::kCalloc);
  return noted(g_next.calloc(count, bytes), caller_of(CALLER), call);
}
TIMELOOM_WRAPPER(void*, realloc, void* block, std::size_t bytes) {
  if (has_allocator()) {
    return allocate_again(block, bytes, caller_of(CALLER), AllocationCall(MemoryCall::kRealloc));
  }
  void* const larger = g_early.allocate(bytes);
  if (larger != nullptr && g_early.has(block)) {
    std::memcpy(larger, block, std::min(bytes, EarlyBlocks::size(block)));
  }
  return larger;
}
TIMELOOM_WRAPPER(void*, reallocarray, void* block, std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all) || !has_allocator()) {
    errno = ENOMEM;
    return nullptr;
  }
  return allocate_again(block, all, CALLER, AllocationCall(MemoryCall::kReallocArray));
}
TIMELOOM_WRAPPER(void, free, void* block) {
  if (block == nullptr || g_early.has(block) || !has_allocator()) return;
  AllocationCall call(MemoryCall::kFree);
  const void* const caller = caller_of(CALLER);
  const std::size_t bytes = note_gone(block, caller);
  g_next.free(block);
  call.end();
  call.record(caller, {.argument = block, .freed = bytes});
}

TIMELOOM_WRAPPER(int, posix_memalign, void** to, std::size_t alignment, std::size_t bytes) {
  AllocationCall call(MemoryCall::kPosixMemalign);
  const int error = next_posix_memalign(to, alignment, bytes);
  if (error == 0 && has_allocator()) noted(*to, caller_of(CALLER), call);
  return error;
}
TIMELOOM_WRAPPER(void*, aligned_alloc, std::size_t alignment, std::size_t bytes) {
  AllocationCall call(MemoryCall::kAlignedAlloc);
  void* const block = next_aligned_alloc(alignment, bytes);
  return has_allocator() ? noted(block, caller_of(CALLER), call) : block;
}
TIMELOOM_WRAPPER(void*, memalign, std::size_t alignment, std::size_t bytes) {
  AllocationCall call(MemoryCall::kMemalign);
  void* const block = next_memalign(alignment, bytes);
  return has_allocator() ? noted(block, CALLER, call) : block;
}
TIMELOOM_WRAPPER(void*, valloc, std::size_t bytes) {
  AllocationCall call(MemoryCall::kValloc);
  void* const block = next_valloc(bytes);
  return has_allocator() ? noted(block, CALLER, call) : block;
}
TIMELOOM_WRAPPER(void*, pvalloc, std::size_t bytes) {
  AllocationCall call(MemoryCall::kPvalloc);
  void* const block = next_pvalloc(bytes);
  return has_allocator() ? noted(block, CALLER, call) : block;
}

// For the extension of Python, which finds them by their names (src/python/observe/memory).
extern "C" [[gnu::visibility("default")]] void timeloom_python_allocation(std::size_t bytes) {
  note_python_allocation(bytes);
}
extern "C" [[gnu::visibility("default")]] void timeloom_python_free() { note_python_free(); }
// Until the next call, allocations of the thread count for this caller; returns the one before.
// CPython's functions jump to malloc(), which then seems to be called by the extension.
extern "C" [[gnu::visibility("default")]] const void* timeloom_set_caller(const void* caller) {
  return std::exchange(t_caller_of_new, caller);
}

// C++: the operators of its library call malloc() or aligned_alloc() for their own callers, and
// free(). The operators of some allocators do not: their blocks are noted here.
#define OPERATOR_NEW(name, call_of, parameters, arguments)                                  \
  namespace timeloom::preload {                                                             \
  namespace {                                                                               \
  constinit Next<void * parameters> next_##name{#name};                                     \
  }                                                                                         \
  }                                                                                         \
  extern "C" [[gnu::visibility("default")]] void* wrapped_##name parameters __asm__(#name); \
  extern "C" void* wrapped_##name parameters {                                              \
    AllocationCall call(MemoryCall::call_of);                                               \
    const CallerOfNew caller(CALLER);                                                       \
    return caller.noted(next_##name arguments, call);                                       \
  }
OPERATOR_NEW(_Znwm, kNew, (std::size_t bytes), (bytes))
OPERATOR_NEW(_Znam, kNewArray, (std::size_t bytes), (bytes))
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, kNewNothrow, (std::size_t bytes, const void* tag), (bytes, tag))
OPERATOR_NEW(_ZnamRKSt9nothrow_t, kNewArrayNothrow, (std::size_t bytes, const void* tag),
             (bytes, tag))
OPERATOR_NEW(_ZnwmSt11align_val_t, kNewAligned, (std::size_t bytes, std::size_t to), (bytes, to))
OPERATOR_NEW(_ZnamSt11align_val_t, kNewArrayAligned, (std::size_t bytes, std::size_t to),
             (bytes, to))

#define OPERATOR_DELETE(name, call_of, parameters, arguments)                              \
  namespace timeloom::preload {                                                            \
  namespace {                                                                              \
  constinit Next<void parameters> next_##name{#name};                                      \
  }                                                                                        \
  }                                                                                        \
  extern "C" [[gnu::visibility("default")]] void wrapped_##name parameters __asm__(#name); \
  extern "C" void wrapped_##name parameters {                                              \
    AllocationCall call(MemoryCall::call_of);                                              \
    if (call.is_on()) [[unlikely]] {                                                       \
      return delete_in_region(call, block, CALLER, [&] { next_##name arguments; });        \
    }                                                                                      \
    if (g_new_allocates.load(std::memory_order_relaxed) && block != nullptr) [[unlikely]]  \
      note_gone(block, CALLER);                                                            \
    next_##name arguments;                                                                 \
  }
OPERATOR_DELETE(_ZdlPv, kDelete, (void* block), (block))
OPERATOR_DELETE(_ZdaPv, kDeleteArray, (void* block), (block))
OPERATOR_DELETE(_ZdlPvm, kDeleteSized, (void* block, std::size_t bytes), (block, bytes))
OPERATOR_DELETE(_ZdaPvm, kDeleteArraySized, (void* block, std::size_t bytes), (block, bytes))
OPERATOR_DELETE(_ZdlPvRKSt9nothrow_t, kDeleteNothrow, (void* block, const void* tag), (block, tag))
OPERATOR_DELETE(_ZdaPvRKSt9nothrow_t, kDeleteArrayNothrow, (void* block, const void* tag),
                (block, tag))
OPERATOR_DELETE(_ZdlPvSt11align_val_t, kDeleteAligned, (void* block, std::size_t to), (block, to))
OPERATOR_DELETE(_ZdaPvSt11align_val_t, kDeleteArrayAligned, (void* block, std::size_t to),
                (block, to))
OPERATOR_DELETE(_ZdlPvmSt11align_val_t, kDeleteSizedAligned,
                (void* block, std::size_t bytes, std::size_t to), (block, bytes, to))
OPERATOR_DELETE(_ZdaPvmSt11align_val_t, kDeleteArraySizedAligned,
                (void* block, std::size_t bytes, std::size_t to), (block, bytes, to))

TIMELOOM_WRAPPER(void*, mmap, void* at, std::size_t bytes, int protection, int flags, int file,
                 off_t offset) {
  return noted_mapping(next_mmap(at, bytes, protection, flags, file, offset), bytes, protection,
                       flags, caller_of(CALLER));
}
TIMELOOM_WRAPPER(void*, mmap64, void* at, std::size_t bytes, int protection, int flags, int file,
                 off_t offset) {
  return noted_mapping(next_mmap64(at, bytes, protection, flags, file, offset), bytes, protection,
                       flags, CALLER);
}
TIMELOOM_WRAPPER(int, munmap, void* begin, std::size_t bytes) {
  // Before the call, as another thread may have the addresses right after it. A call that is wrong
  // unmaps nothing.
  const bool is_wrong = bytes == 0 || reinterpret_cast<std::uintptr_t>(begin) % kPage != 0;
  if (!is_wrong) (void)note_unmapped(begin, whole_pages(bytes), CALLER);
  return next_munmap(begin, bytes);
}
TIMELOOM_WRAPPER(void*, mremap, void* begin, std::size_t before, std::size_t after, int flags,
                 void* to) {
  void* const result = next_mremap(begin, before, after, flags, to);
  if (result == MAP_FAILED) return result;
  if (note_unmapped(begin, whole_pages(before), CALLER)) {
    note_mapped(result, whole_pages(after), CALLER);
  }
  return result;
}
