/* Ends of processes and threads in the middle of recording: which one is the first argument. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <timeloom/timeloom.h>
#include <unistd.h>

static void leave(int number) { exit(number == SIGALRM ? 3 : 4); }

/* exit() in a handler that interrupts the recording of calls. */
static int exit_in_handler(void) {
  static timeloom_region inner = TIMELOOM_REGION("inner");
  const struct itimerval soon = {{0, 0}, {0, 20000}};
  signal(SIGALRM, leave);
  setitimer(ITIMER_REAL, &soon, NULL);
  for (;;) {
    timeloom_enter(&inner);
    timeloom_leave(&inner);
  }
}

static void* begin_region(void* argument) {
  timeloom_region_begin("of a thread");
  pause();
  return argument;
}

/* Threads that are cancelled as soon as they are there. */
static int cancel(void) {
  for (int i = 0; i < 200; ++i) {
    pthread_t thread;
    void* result = NULL;
    if (pthread_create(&thread, NULL, begin_region, NULL) != 0) return 1;
    pthread_cancel(thread);
    if (pthread_join(thread, &result) != 0 || result != PTHREAD_CANCELED) return 1;
  }
  return 0;
}

static volatile int g_done;
static void* name_regions(void* argument) {
  char name[32];
  for (unsigned i = 0; !g_done; ++i) {
    snprintf(name, sizeof name, "region %u", i % 1000);
    timeloom_region_begin(name);
    timeloom_region_end(name);
  }
  return argument;
}

/* Children of a process whose other thread looks regions up by their names. */
static int fork_while_naming(void) {
  pthread_t thread;
  int failed = 0;
  if (pthread_create(&thread, NULL, name_regions, NULL) != 0) return 1;
  for (int i = 0; i < 200; ++i) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
      alarm(20); /* not for ever */
      timeloom_region_begin("child");
      timeloom_region_end("child");
      _exit(0);
    }
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  g_done = 1;
  pthread_join(thread, NULL);
  return failed != 0;
}

static void at_exit(void) { puts("exit"); }

static void* end_last(void* argument) {
  pthread_join(*(pthread_t*)argument, NULL);
  timeloom_region_begin("of the last thread");
  timeloom_region_end("of the last thread");
  return NULL;
}

/* The main thread ends first; the process ends with its last thread. */
static int end_main_thread(void) {
  static pthread_t main_thread;
  pthread_t thread;
  main_thread = pthread_self();
  atexit(at_exit);
  timeloom_region_begin("of the main thread");
  timeloom_region_end("of the main thread");
  if (pthread_create(&thread, NULL, end_last, &main_thread) != 0) return 1;
  pthread_exit(NULL);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "exit") == 0) return exit_in_handler();
  if (strcmp(what, "main") == 0) return end_main_thread();
  if (strcmp(what, "cancel") == 0) return cancel();
  if (strcmp(what, "fork") == 0) return fork_while_naming();
  return 2;
}
