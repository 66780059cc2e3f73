/* Threads that use CPU time and run no Python, like the threads of numerical libraries. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>

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

static pthread_barrier_t burnt;
static double pool_seconds;

/* As the threads of a pool: named after they have begun, and idle when there is nothing to do. */
static void* burn_and_stay(void* number) {
  double seconds = pool_seconds;
  pthread_setname_np(pthread_self(), (long)number % 2 ? "odd burner" : "even burner");
  burn(&seconds);
  pthread_barrier_wait(&burnt);
  for (;;) pause();
}

/* Returns when each of four threads, which stay, has used `seconds`. */
void burn_in_pool(double seconds) {
  pthread_t thread;
  pool_seconds = seconds;
  pthread_barrier_init(&burnt, NULL, 5);
  for (long i = 0; i < 4; ++i) pthread_create(&thread, NULL, burn_and_stay, (void*)i);
  pthread_barrier_wait(&burnt);
}
