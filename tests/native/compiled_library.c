/* A library that is like others but for the names of its functions: NAME. */
#include <stdio.h>

__attribute__((noinline)) static void NAME(void) { printf("%s . ", __func__); }

void call(void) {
  printf("call ");
  NAME();
  printf(". ");
}
