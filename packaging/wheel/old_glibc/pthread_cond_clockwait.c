#include <pthread.h>
#include <time.h>

/* glibc 2.30: waits until a time of the given clock. Older ones know only the clock of the
 * condition, CLOCK_REALTIME: when that is set during the wait, the wait is longer or shorter. */
__attribute__((visibility("hidden"))) int pthread_cond_clockwait(pthread_cond_t *condition,
                                                                 pthread_mutex_t *mutex,
                                                                 clockid_t clock,
                                                                 const struct timespec *until) {
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
