/* Threads that use CPU time and run no Python, like the threads of numerical libraries. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static double cpu_seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void* burn(void* seconds) {
  while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < *(double*)seconds) {
  }
  *(double*)seconds = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
  return NULL;
}

/* The CPU time that two threads have used, about `seconds` each. */
double burn_in_threads(double seconds) {
  pthread_t threads[2];
  double taken[2] = {seconds, seconds};
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, burn, &taken[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return taken[0] + taken[1];
}
