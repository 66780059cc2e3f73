#include "python/interpreter/c_stack.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace timeloom::python {
namespace {

constexpr std::size_t kSize = 8 << 20;
constexpr std::size_t kGuard = 64 << 10;  // not accessible, below the stack
constexpr std::size_t kReserve = 2 << 20;

void* map_stack() noexcept {
  void* memory = ::mmap(nullptr, kGuard + kSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (::mprotect(memory, kGuard, PROT_NONE) == 0) return memory;
  ::munmap(memory, kGuard + kSize);
  return nullptr;
}

// The stack that this thread used last.
struct Spare {
  void* memory = nullptr;
  ~Spare() {
    if (memory != nullptr) ::munmap(memory, kGuard + kSize);
  }
};
thread_local Spare t_spare;

struct StackCall {
  void (*function)(void*, const CStack&);
  void* argument;
  CStack stack;
  ucontext_t caller;
};
constinit thread_local StackCall* t_call = nullptr;  // makecontext() passes no pointers

void run() {
  StackCall* const call = t_call;
  call->function(call->argument, call->stack);
  // The caller's context is about to be restored; its signal mask is as old as
  // that, and the function may have changed it.
  pthread_sigmask(SIG_SETMASK, nullptr, &call->caller.uc_sigmask);
}

// Runs the call on `stack`. A function of its own, since what lives across
// getcontext() must not be in registers.
[[gnu::noinline]] void run_on(StackCall* call) {
  ucontext_t callee;
  getcontext(&callee);
  callee.uc_stack.ss_sp = call->stack.low;
  callee.uc_stack.ss_size = call->stack.size;
  callee.uc_link = &call->caller;
  makecontext(&callee, run, 0);
  t_call = call;
  swapcontext(&call->caller, &callee);
}

}  // namespace

std::uintptr_t stack_floor() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* low = nullptr;
  std::size_t size = 0;
  const int error = pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  if (error != 0) return 0;
  return CStack{static_cast<char*>(low), size}.floor();
}

std::uintptr_t CStack::floor() const noexcept {
  return reinterpret_cast<std::uintptr_t>(low) + std::min(kReserve, size / 2);
}

bool call_on_new_stack(void (*function)(void* argument, const CStack& stack),
                       void* argument) noexcept {
  void* memory = std::exchange(t_spare.memory, nullptr);
  if (memory == nullptr) memory = map_stack();
  if (memory == nullptr) return false;
  StackCall call{function, argument, {static_cast<char*>(memory) + kGuard, kSize}, {}};
  run_on(&call);
  if (t_spare.memory == nullptr) {
    t_spare.memory = memory;
  } else {
    ::munmap(memory, kGuard + kSize);
  }
  return true;  // NOLINT(clang-analyzer-core.StackAddressEscape): nobody looks at t_call then
}

}  // namespace timeloom::python
