/* Threads of a program without Python: what it does is its first argument. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void* work(void* argument) { return argument; }

static void* leave(void* argument) {
  pthread_exit(argument);
  return NULL;
}

static volatile long g_task;
static void* say_task(void* argument) {
  g_task = syscall(SYS_gettid);
  return argument;
}

/* Nobody joins it. */
static void wait_until_gone(void) {
  while (g_task == 0) usleep(1000);
  while (syscall(SYS_tgkill, getpid(), g_task, 0) == 0) usleep(1000);
}

static void* result_of(void* (*routine)(void*)) {
  static char argument;
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, routine, &argument);
  pthread_join(thread, &result);
  return result == &argument ? result : NULL;
}

static int create(void) {
  pthread_t thread;
  int failed = 0;
  for (int i = 0; i < 3; ++i) failed += result_of(work) == NULL;
  failed += result_of(leave) == NULL;
  pthread_create(&thread, NULL, say_task, NULL);
  pthread_detach(thread);
  wait_until_gone();
  return failed;
}

static int locks(void) {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  struct timespec end;
  pthread_mutex_init(&mutex, NULL);
  pthread_cond_init(&condition, NULL);
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  pthread_mutex_trylock(&mutex);
  clock_gettime(CLOCK_REALTIME, &end);
  pthread_cond_signal(&condition);
  pthread_cond_signal(&condition);
  pthread_cond_broadcast(&condition);
  int failed = pthread_cond_timedwait(&condition, &mutex, &end) != ETIMEDOUT;
  end.tv_sec += 1;
  failed += pthread_mutex_timedlock(&mutex, &end) != ETIMEDOUT; /* the only long one */
  pthread_mutex_unlock(&mutex);
  pthread_cond_destroy(&condition);
  pthread_mutex_destroy(&mutex);
  return failed;
}

static int g_pipe[2];
static void* wait_for_data(void* argument) {
  char byte;
  (void)!read(g_pipe[0], &byte, 1);
  return argument;
}

static int cancel(void) {
  pthread_t thread;
  void* result = NULL;
  if (pipe(g_pipe) != 0) return 1;
  pthread_create(&thread, NULL, wait_for_data, NULL);
  usleep(50000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  return result != PTHREAD_CANCELED;
}

static int fork_once(void) {
  int status = 0;
  int failed = result_of(work) == NULL;
  const pid_t child = fork();
  if (child == 0) return result_of(work) == NULL;
  waitpid(child, &status, 0);
  return failed + status;
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  int failed = 1;
  if (strcmp(what, "create") == 0) failed = create();
  if (strcmp(what, "locks") == 0) failed = locks();
  if (strcmp(what, "cancel") == 0) failed = cancel();
  if (strcmp(what, "fork") == 0) failed = fork_once();
  return failed;
}
