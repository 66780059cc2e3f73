#include <pthread.h>

#include "until_real_time.h"

/* glibc 2.30: waits until a time of the given clock. */
__attribute__((visibility("hidden"))) int pthread_cond_clockwait(pthread_cond_t *condition,
                                                                 pthread_mutex_t *mutex,
                                                                 clockid_t clock,
                                                                 const struct timespec *until) {
  const struct timespec real = until_real_time(clock, until);
  return pthread_cond_timedwait(condition, mutex, &real);
}
