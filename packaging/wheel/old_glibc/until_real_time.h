#ifndef TIMELOOM_UNTIL_REAL_TIME_H
#define TIMELOOM_UNTIL_REAL_TIME_H

#include <time.h>

/* The time of CLOCK_REALTIME at which another clock will show `until`. Older glibc waits by that
 * clock only: when it is set during the wait, the wait is longer or shorter. */
static inline struct timespec until_real_time(clockid_t clock, const struct timespec* until) {
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
  return here;
}

#endif
