// Built with -finstrument-functions; writes its calls as compiled.c does. Exceptions and jumps
// leave functions, whose dots are written where the program goes on.
#include <alloca.h>
#include <ucontext.h>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#define PLAIN __attribute__((no_instrument_function))
#define CALLED __attribute__((noinline))

namespace {

int g_times = 3;
bool g_silent = false;
thread_local std::jmp_buf g_back;
ucontext_t g_main, g_fibre;

PLAIN void in(const char* name) {
  if (!g_silent) std::printf("%s ", name);
}
PLAIN void out(int count) {
  while (!g_silent && count-- > 0) std::printf(". ");
}
PLAIN void use(void* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

}  // namespace

CALLED void third(bool jumps) {
  in("third");
  if (jumps) std::longjmp(g_back, 1);
  throw std::runtime_error("too large");
}
CALLED void second(bool jumps) {
  in("second");
  char large[3000];
  use(large);
  third(jumps);
}
CALLED void first(bool jumps) {
  in("first");
  second(jumps);
  use(nullptr);
}
// Its frame reaches over the frames of the functions that were left.
CALLED void after() {
  in("after");
  char large[10000];
  use(large);
  out(1);
}
CALLED void small() {
  in("small");
  out(1);
}
CALLED void thrown() {
  in("thrown");
  for (int i = 0; i < g_times; ++i) {
    use(alloca(100));
    try {
      first(false);
    } catch (const std::exception&) {
      out(3);
    }
    small();
    after();
  }
  out(1);
}
// Handles the exception and throws it again.
CALLED void again() {
  in("again");
  try {
    first(false);
  } catch (...) {
    out(3);
    small();
    throw;
  }
}
CALLED void thrown_again() {
  in("thrown_again");
  for (int i = 0; i < g_times; ++i) {
    try {
      again();
    } catch (const std::exception&) {
      out(1);
    }
    after();
  }
  out(1);
}
CALLED void jumped() {
  in("jumped");
  for (volatile int i = 0; i < g_times; i = i + 1) {
    if (setjmp(g_back) == 0) first(true);
    out(3);
    small();
    after();
  }
  out(1);
}
// On a stack of its own: it goes on while another context throws.
CALLED void fibre() {
  in("fibre");
  swapcontext(&g_fibre, &g_main);
  out(1);
}
PLAIN void fibres() {
  constexpr std::size_t kSize = 256 * 1024;
  void* const stack = std::malloc(kSize);
  getcontext(&g_fibre);
  g_fibre.uc_stack.ss_sp = stack;
  g_fibre.uc_stack.ss_size = kSize;
  g_fibre.uc_link = &g_main;
  makecontext(&g_fibre, fibre, 0);
  swapcontext(&g_main, &g_fibre);
  thrown();
  swapcontext(&g_main, &g_fibre);
  std::free(stack);
}
PLAIN void silently() {
  g_silent = true;
  std::thread(thrown).join();
}

extern "C" void call_back(void (*function)(void*), void* data) {
  for (int i = 0; i < g_times; ++i) {
    try {
      first(false);
    } catch (const std::exception&) {
      function(data);
    }
  }
}

int main(int, char** words) {
  const char* const mode = words[1];
  in("main");
  if (std::strcmp(mode, "thrown") == 0) thrown();
  if (std::strcmp(mode, "again") == 0) thrown_again();
  if (std::strcmp(mode, "jumped") == 0) jumped();
  if (std::strcmp(mode, "fibre") == 0) fibres();
  if (std::strcmp(mode, "thread") == 0) silently();
  out(1);
}
