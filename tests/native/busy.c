/* Functions that use CPU time in known shares, for tests of samples. A round of each takes as many
   steps as its name tells; what they took is measured by whoever calls them. */
#include <signal.h>
#include <time.h>

static volatile double number = 1;

#define ROUND 20000

__attribute__((noinline)) void sixty(long rounds) {
  for (long i = 0; i < 6 * ROUND * rounds; ++i) number = number * 0.999 + 1;
}

__attribute__((noinline)) void thirty(long rounds) {
  for (long i = 0; i < 3 * ROUND * rounds; ++i) number = number * 0.999 + 1;
}

__attribute__((noinline)) void ten(long rounds) {
  for (long i = 0; i < 1 * ROUND * rounds; ++i) number = number * 0.999 + 1;
}

static __attribute__((noinline)) void unexported(long rounds) {
  for (long i = 0; i < 6 * ROUND * rounds; ++i) number = number * 0.999 + 1;
}

/* Works in a function that has no name once the library is stripped. */
void indirect(long rounds) { unexported(rounds); }

/* Works while all signals are blocked. */
void undisturbed(long rounds) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thirty(rounds);
  pthread_sigmask(SIG_SETMASK, &before, 0);
}
