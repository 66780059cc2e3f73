/* Constructs of OpenMP, for GCC: `openmp WHAT` prints what its threads counted themselves. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int g_visits[8]; /* by each thread of a team */

static void print_visits(int threads) {
  for (int i = 0; i < threads; ++i) printf("%d ", g_visits[i]);
}

static void parallel(int threads) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp atomic
    ++g_visits[omp_get_thread_num()];
  }
}

static void regions(void) {
  for (int i = 0; i < 5; ++i) parallel(2);
  for (int i = 0; i < 3; ++i) parallel(4);
  parallel(1);
  print_visits(4);
}

static void loops(void) {
  long sum = 0;
#pragma omp parallel for schedule(dynamic, 3) num_threads(2) reduction(+ : sum)
  for (int i = 0; i < 100; ++i) sum += i;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
#pragma omp for schedule(guided)
    for (int i = 0; i < 100; ++i) sum += i;
#pragma omp for schedule(dynamic) nowait
    for (unsigned long long i = 0; i < 10; ++i) sum += (long)i;
#pragma omp for schedule(runtime)
    for (int i = 0; i < 10; ++i) sum += i;
#pragma omp for schedule(static)
    for (int i = 0; i < 10; ++i) sum += i;
  }
  printf("%ld", sum);
}

static void blocks(void) {
  int blocks = 0, ordered = 0, single = 0, copied = 0, sections = 0, named = 0;
#pragma omp parallel num_threads(3)
  {
    int own = 0;
    for (int i = 0; i < 4; ++i) {
#pragma omp critical
      ++blocks;
#pragma omp critical(with_a_name)
      ++named;
    }
#pragma omp barrier
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < 6; ++i) {
#pragma omp ordered
      ++ordered;
    }
#pragma omp single
    ++single;
#pragma omp single copyprivate(own)
    own = 7;
#pragma omp atomic
    copied += own;
#pragma omp sections
    {
#pragma omp section
#pragma omp atomic
      ++sections;
#pragma omp section
#pragma omp atomic
      ++sections;
    }
  }
  printf("%d %d %d %d %d %d", blocks, named, ordered, single, copied, sections);
}

/* Data that are not copied as plain memory, and more of them than a word. */
struct Data {
  char text[200];
};

static void tasks(void) {
  int runs[2] = {0, 0}, wrong = 0, looped = 0, long_sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    struct Data data;
    memset(&data, 5, sizeof data);
    for (int i = 0; i < 20; ++i) {
#pragma omp task firstprivate(i, data) shared(runs, wrong, long_sum) if (i % 5 != 0)
      {
#pragma omp atomic
        ++runs[omp_get_thread_num()];
#pragma omp atomic
        wrong += data.text[199] != 5;
#pragma omp atomic
        long_sum += i;
      }
    }
#pragma omp taskwait
#pragma omp taskgroup
    {
#pragma omp task shared(runs)
      {
#pragma omp task shared(runs)
#pragma omp atomic
        ++runs[omp_get_thread_num()];
#pragma omp taskwait
#pragma omp atomic
        ++runs[omp_get_thread_num()];
      }
    }
#pragma omp taskloop num_tasks(4) shared(looped)
    for (int i = 0; i < 16; ++i)
#pragma omp atomic
      looped += i;
  }
  printf("%d %d %d %d %d", runs[0], runs[1], wrong, looped, long_sum);
}

static void nested(void) {
  int count = 0;
  omp_set_max_active_levels(2);
  for (int i = 0; i < 2; ++i) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
#pragma omp atomic
    ++count;
  }
  printf("%d", count);
}

static void cancelled(void) {
  int after = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; ++i) {
#pragma omp cancel for
#pragma omp cancellation point for
    }
#pragma omp atomic
    ++after;
#pragma omp cancel parallel
#pragma omp barrier
  }
  printf("%d %d", omp_get_cancellation(), after);
}

/* A runtime that has no threads yet works in a child. */
static void forked(void) {
  const pid_t child = fork();
  parallel(2);
  if (child == 0) exit(g_visits[0] + g_visits[1] - 2);
  int status = 1;
  waitpid(child, &status, 0);
  print_visits(2);
  printf("%d", status);
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  if (strcmp(what, "regions") == 0) regions();
  if (strcmp(what, "loops") == 0) loops();
  if (strcmp(what, "blocks") == 0) blocks();
  if (strcmp(what, "tasks") == 0) tasks();
  if (strcmp(what, "nested") == 0) nested();
  if (strcmp(what, "cancelled") == 0) cancelled();
  if (strcmp(what, "forked") == 0) forked();
  return 0;
}
