// Functions that an exception or longjmp() leaves: Clang makes no call at their ends, and no
// compiler does for a jump. They have ended when another function catches the exception, or where
// the jump arrives: the functions that run on lie above it in the stack.
//
// A process may have several C++ libraries, and a caught exception must stay with one: each catch
// is passed on to the library to which the linker has bound the other functions of the caller. Any
// thread, without locks; nothing throws. Without exceptions: see CMakeLists.txt.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <string_view>

#include "os/own_stack.hpp"
#include "preload/common/loaded_symbols.hpp"
#include "preload/common/next_function.hpp"
#include "preload/compiler/unloads.hpp"
#include "record/measurement.hpp"
#include "record/native/compiled_code.hpp"

namespace timeloom::preload {
namespace {

using Catch = void*(void* exception);

constexpr char kCatch[] = "__cxa_begin_catch";

// A place in the program's code that catches exceptions. It lives as long as the process.
struct Catcher {
  const void* code;                    // behind the call
  std::atomic<Catch*> function;        // of its C++ library
  std::atomic<std::uint64_t> unloads;  // when that was found
  Catcher* next;
};

constexpr std::size_t kBuckets = 256;
constinit std::array<std::atomic<Catcher*>, kBuckets> g_catchers{};

const void* own_code() noexcept { return reinterpret_cast<const void*>(&g_catchers); }

Catch* catch_in(const LoadedLibrary& library) noexcept {
  if (!library || library == LoadedLibrary::around(own_code())) return nullptr;
  return reinterpret_cast<Catch*>(library.find(kCatch));
}

// By another function of exceptions, which is not wrapped. nullptr: none is bound yet.
Catch* bound_catch(const LoadedLibrary& library) noexcept {
  Catch* found = nullptr;
  library.each_import([&](std::string_view name, const void* address) {
    if (name != "__cxa_end_catch" && name != "__gxx_personality_v0") return true;
    const LoadedLibrary other = LoadedLibrary::around(address);
    if (!(other == library)) found = catch_in(other);
    return found == nullptr;
  });
  return found;
}

// As the linker would have bound it.
Catch* find_catch(const void* code) noexcept {
  const LoadedLibrary library = LoadedLibrary::around(code);
  if (Catch* const bound = library ? bound_catch(library) : nullptr) return bound;
  if (void* const next = ::dlsym(RTLD_NEXT, kCatch)) return reinterpret_cast<Catch*>(next);
  void* const handle = library && *library.file() != '\0'
                           ? ::dlopen(library.file(), RTLD_LAZY | RTLD_NOLOAD)
                           : nullptr;
  if (handle != nullptr) {
    void* const found = ::dlsym(handle, kCatch);
    close_object(handle);
    if (found != nullptr) return reinterpret_cast<Catch*>(found);
  }
  return catch_in(LoadedLibrary::that_defines(kCatch, own_code()));
}

Catch* catch_for(const void* code) noexcept {
  std::atomic<Catcher*>& head =
      g_catchers[(reinterpret_cast<std::uintptr_t>(code) >> 2) % kBuckets];
  const std::uint64_t unloads = unloads_so_far();
  Catcher* one = head.load(std::memory_order_acquire);
  while (one != nullptr && one->code != code) one = one->next;
  if (one != nullptr && one->unloads.load(std::memory_order_acquire) == unloads) [[likely]]
    return one->function.load(std::memory_order_relaxed);
  const record::KeepOff of_allocation;
  Catch* const found = find_catch(code);
  if (one != nullptr) {
    one->function.store(found, std::memory_order_relaxed);
    one->unloads.store(unloads, std::memory_order_release);
  } else if ((one = static_cast<Catcher*>(::malloc(sizeof(Catcher)))) != nullptr) {
    new (one) Catcher{code, found, unloads, head.load(std::memory_order_relaxed)};
    while (!head.compare_exchange_weak(one->next, one, std::memory_order_release)) {
    }
  }
  return found;
}

// The linker has found ours, so the program was built with one.
[[noreturn]] void lacks_catch() noexcept {
  ::fputs("timeloom: the C++ library of the program was not found\n", stderr);
  ::abort();
}

using Jump = void(void* buffer, int value);
constinit Next<Jump> next_longjmp{"longjmp"}, next__longjmp{"_longjmp"},
    next_siglongjmp{"siglongjmp"}, next___longjmp_chk{"__longjmp_chk"};

[[gnu::constructor]] void find_jumps() noexcept {
  for (auto* const next : {&next_longjmp, &next__longjmp, &next_siglongjmp, &next___longjmp_chk}) {
    next->find_now();
  }
}

void note_jump(const void* buffer) noexcept {
  if (!record::active()) return;
  if (const void* const frame = os::stack_pointer_in_jump(buffer))
    record::end_functions_below(frame);
}

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom::preload;

TIMELOOM_WRAPPER(void*, __cxa_begin_catch, void* exception) {
  if (timeloom::record::active()) timeloom::record::end_functions_below(__builtin_dwarf_cfa());
  Catch* const next = catch_for(__builtin_return_address(0));
  if (next == nullptr) lacks_catch();
  return next(exception);
}

#define JUMP(name)                                        \
  TIMELOOM_WRAPPER(void, name, void* buffer, int value) { \
    note_jump(buffer);                                    \
    next_##name(buffer, value);                           \
  }
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
