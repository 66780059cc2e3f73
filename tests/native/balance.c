// Two loops with the same work: each thread has an equal part of one, and the first thread all of
// the other one. A part spins for a time of its thread, so that other programs change nothing.
#include <omp.h>
#include <stdio.h>
#include <time.h>

static double cpu_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void work(double seconds) {
  const double end = cpu_time() + seconds;
  while (cpu_time() < end) {
  }
}

__attribute__((visibility("default"))) void balanced(int threads, double seconds) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < threads; ++i) work(seconds);
}

__attribute__((visibility("default"))) void unbalanced(int threads, double seconds) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < threads; ++i) work(i == 0 ? seconds * threads : 0);
}

int main(void) {
  for (int i = 0; i < 3; ++i) {
    balanced(2, 0.02);
    unbalanced(2, 0.02);
  }
  puts("done");
  return 0;
}
