// Functions for test_memory_allocators.py, called by ctypes.
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace {

volatile int g_handled = 0;

void fork_and_map(int) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  while (waitpid(child, nullptr, 0) < 0) {
  }
  void* const pages =
      mmap(nullptr, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages, 2 << 20);
  g_handled = g_handled + 1;
}

}  // namespace

// Allocates and frees until so many signals have come, each of which forks.
extern "C" int fork_in_handlers(int most) {
  struct sigaction action = {};
  action.sa_handler = fork_and_map;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every = {{0, 1000}, {0, 1000}}, never = {};
  setitimer(ITIMER_REAL, &every, nullptr);
  while (g_handled < most) {
    void* volatile block = malloc(100);
    free(block);
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  return g_handled;
}

// Of 100 blocks of 100,000 bytes by operator new[], 60 are deleted.
extern "C" void use_operators() {
  std::vector<char*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(new char[100'000]);
  for (int i = 0; i < 60; ++i) delete[] blocks[i];
}

// Unmaps nothing: the address and the size are wrong.
extern "C" int wrong_unmaps() {
  char* const pages = static_cast<char*>(
      mmap(nullptr, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return munmap(pages + 1, 8 << 20) + munmap(pages, 0);
}

namespace {
void* g_held[200];
}

// 200 blocks are held while the log of sampled blocks fills: each of the others is a sample.
extern "C" void hold_while_others_come(long others) {
  for (void*& block : g_held) block = malloc(2'000'000);
  for (long i = 0; i < others; ++i) {
    void* volatile block = malloc(3'000'000);
    free(block);
  }
  for (void* block : g_held) free(block);
}
