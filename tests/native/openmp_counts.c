/* Constructs of OpenMP. Prints how often each was met, as the program itself counts. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int parallel, implicit_tasks, barriers, implicit_barriers, criticals, singles, tasks,
    taskwaits, loops, locks, taskgroups;

static void count(int* counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

static volatile double sink;
static void work(int rounds) {
  for (int i = 0; i < rounds * 1000; ++i) sink = i * 0.5;
}

static void begin_member(void) {
  count(&implicit_tasks);
  count(&implicit_barriers); /* at the end of the team */
}

static void constructs(void) {
  count(&parallel);
#pragma omp parallel num_threads(2)
  {
    begin_member();
    count(&loops);
    count(&implicit_barriers);
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 8; ++i) work(1);
    count(&barriers);
#pragma omp barrier
#pragma omp critical(sum)
    {
      count(&criticals);
      work(1);
    }
    count(&implicit_barriers);
#pragma omp single
    {
      count(&singles);
      for (int i = 0; i < 4; ++i) {
#pragma omp task
        {
          count(&tasks);
          work(2);
        }
      }
      count(&taskwaits);
#pragma omp taskwait
    }
    work(1); /* without which GCC joins the two barriers */
  }
}

static void nested(void) {
  omp_set_max_active_levels(2);
  count(&parallel);
#pragma omp parallel num_threads(2)
  {
    begin_member();
    count(&parallel);
#pragma omp parallel num_threads(2)
    {
      begin_member();
      work(1);
    }
  }
  omp_set_max_active_levels(1);
}

static void nested_tasks(void) {
  count(&parallel);
#pragma omp parallel num_threads(2)
  {
    begin_member();
#pragma omp master
    {
      count(&taskgroups);
#pragma omp taskgroup
      {
        for (int i = 0; i < 3; ++i) {
#pragma omp task
          {
            count(&tasks);
#pragma omp task
            {
              count(&tasks);
              work(1);
            }
            count(&taskwaits);
#pragma omp taskwait
          }
        }
      }
    }
  }
}

static void take_locks(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  count(&parallel);
#pragma omp parallel num_threads(2)
  {
    begin_member();
    for (int i = 0; i < 3; ++i) {
      count(&locks);
      omp_set_lock(&lock);
      work(1);
      omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
}

static void print_counts(void) {
  printf(
      "{\"parallel\": %d, \"implicit tasks\": %d, \"barrier\": %d, \"implicit barrier\": %d, "
      "\"critical\": %d,"
      " \"single\": %d, \"task\": %d, \"taskwait\": %d, \"for\": %d, \"lock\": %d, \"taskgroup\": "
      "%d}\n",
      parallel, implicit_tasks, barriers, implicit_barriers, criticals, singles, tasks, taskwaits,
      loops, locks, taskgroups);
  fflush(stdout);
}

void run_openmp(void) {
  for (int i = 0; i < 3; ++i) constructs();
  nested();
  nested_tasks();
  take_locks();
  print_counts();
}

#ifndef AS_LIBRARY
int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "all";
  if (strcmp(mode, "all") == 0) run_openmp();
  if (strcmp(mode, "fork") == 0) {
    constructs();
    print_counts();
    const pid_t child = fork();
    if (child == 0) {
      parallel = implicit_tasks = barriers = implicit_barriers = criticals = singles = tasks =
          taskwaits = loops = 0;
      constructs();
      print_counts();
      return 0;
    }
    waitpid(child, NULL, 0);
  }
  return 0;
}
#endif
