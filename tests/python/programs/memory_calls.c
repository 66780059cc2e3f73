// Calls of the C library's allocator whose sizes and addresses are known, for
// test_memory_events.py.
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t size(void* block) { return malloc_usable_size(block); }
static uint64_t number(void* block) { return (uint64_t)(uintptr_t)block; }

// For each call: bytes allocated, the block that is returned, the block that is given, bytes freed.
void each_function(uint64_t facts[][4]) {
  void* a = malloc(1000);
  uint64_t before = size(a), first = number(a);
  facts[0][0] = before, facts[0][1] = first;
  void* b = calloc(10, 33);
  facts[1][0] = size(b), facts[1][1] = number(b);
  void* c = realloc(a, 200000);
  facts[2][0] = size(c), facts[2][1] = number(c), facts[2][2] = first, facts[2][3] = before;
  void* d = NULL;
  if (posix_memalign(&d, 64, 777) != 0) abort();
  facts[3][0] = size(d), facts[3][1] = number(d);
  void* e = aligned_alloc(128, 256);
  facts[4][0] = size(e), facts[4][1] = number(e);
  void* f = memalign(32, 99);
  facts[5][0] = size(f), facts[5][1] = number(f);
  void* blocks[] = {b, c, d, e, f};
  for (int i = 0; i < 5; ++i) {
    facts[6 + i][2] = number(blocks[i]), facts[6 + i][3] = size(blocks[i]);
    free(blocks[i]);
  }
}

// Blocks of 1, 2 … bytes: their sizes. Every other one is freed, the last first.
void many(uint64_t* sizes, void** blocks, int count) {
  for (int i = 0; i < count; ++i) sizes[i] = size(blocks[i] = malloc(i + 1));
  for (int i = count - 1; i >= 0; i -= 2) free(blocks[i]);
}
