#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* glibc 2.36. Fails like it: not at all. */
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
    if (errno != EINTR) abort();
  }
  return number;
}
