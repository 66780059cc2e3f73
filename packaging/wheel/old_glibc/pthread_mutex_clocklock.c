#include <pthread.h>

#include "until_real_time.h"

/* glibc 2.30: locks, or gives up at a time of the given clock. */
__attribute__((visibility("hidden"))) int pthread_mutex_clocklock(pthread_mutex_t *mutex,
                                                                  clockid_t clock,
                                                                  const struct timespec *until) {
  const struct timespec real = until_real_time(clock, until);
  return pthread_mutex_timedlock(mutex, &real);
}
