/* Functions of newer versions of glibc that compiled objects ask for, for wheels that must run
 * with glibc 2.28: scripts/wheels.py links this file into each of their libraries and programs,
 * where nobody else sees it. The C++ standard library and its headers were made for the glibc of
 * the machine that builds, and use these.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* glibc 2.32: whether a process has one thread, which spares atomic operations. "No" is always
 * right. */
HIDDEN char __libc_single_threaded = 0;

/* glibc 2.36. Fails like it: not at all. */
HIDDEN uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
    if (errno != EINTR) abort();
  }
  return number;
}

/* glibc 2.30: waits until a time of the given clock. Older ones know only the clock of the
 * condition, CLOCK_REALTIME: when that is set during the wait, the wait is longer or shorter. */
HIDDEN int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until) {
  enum { kSecond = 1000000000 };
  struct timespec there;
  struct timespec here;
  clock_gettime(clock, &there);
  clock_gettime(CLOCK_REALTIME, &here);
  here.tv_sec += until->tv_sec - there.tv_sec;
  here.tv_nsec += until->tv_nsec - there.tv_nsec;
  if (here.tv_nsec < 0) {
    here.tv_nsec += kSecond;
    here.tv_sec -= 1;
  } else if (here.tv_nsec >= kSecond) {
    here.tv_nsec -= kSecond;
    here.tv_sec += 1;
  }
  return pthread_cond_timedwait(condition, mutex, &here);
}
