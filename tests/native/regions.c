/* Marks regions, parameters, counters and points in time; argv[1] says how it runs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "timeloom/timeloom.h"

static timeloom_region outer = TIMELOOM_REGION("outer");
static timeloom_region inner = TIMELOOM_REGION("inner");

static void once(void) {
  timeloom_enter(&inner);
  timeloom_leave(&inner);
}

static void everything(void) {
  timeloom_enter(&outer);
  timeloom_parameter_int("n", -5);
  timeloom_parameter_uint("size", UINT64_MAX);
  timeloom_parameter_float("x", 0.5);
  timeloom_parameter_string("file", "a.dat");
  once();
  timeloom_counter_int("queue", -7, "items");
  timeloom_counter_float("load", 1.25, "");
  timeloom_marker("half way");
  timeloom_region_begin("by name");
  timeloom_region_end("by name");
  timeloom_disable_recording();
  once();
  timeloom_enable_recording();
  timeloom_leave(&outer);
  timeloom_leave(&inner); /* is not open */
  timeloom_enter(NULL);
  timeloom_leave(NULL);
}

static void* work(void* name) {
  pthread_setname_np(pthread_self(), name);
  timeloom_region* region = timeloom_region_define(name, "regions.c", 1);
  for (int i = 0; i < 1000; ++i) {
    timeloom_enter(region);
    once();
    timeloom_leave(region);
  }
  return NULL;
}

static void threads(void) {
  char* names[] = {"first", "second"};
  pthread_t ids[2];
  for (int i = 0; i < 2; ++i) pthread_create(&ids[i], NULL, work, names[i]);
  for (int i = 0; i < 2; ++i) pthread_join(ids[i], NULL);
}

static void* forever(void* unused) {
  for (;;) once();
  return unused;
}

/* The process ends while threads record. */
static void busy_threads(void) {
  pthread_t id;
  for (int i = 0; i < 3; ++i) pthread_create(&id, NULL, forever, NULL);
  for (int i = 0; i < 20; ++i) {
    timeloom_disable_recording();
    timeloom_enable_recording();
    usleep(500);
  }
}

static int child_of_fork(void) {
  timeloom_enter(&outer);
  const pid_t child = fork();
  if (child == 0) {
    once();
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  timeloom_leave(&outer);
  return WEXITSTATUS(status);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "everything";
  if (strcmp(mode, "everything") == 0) everything();
  if (strcmp(mode, "threads") == 0) threads();
  if (strcmp(mode, "busy") == 0) busy_threads();
  if (strcmp(mode, "fork") == 0) return child_of_fork();
  if (strcmp(mode, "exec") == 0) {
    once();
    execl(argv[0], argv[0], "everything", (char*)NULL);
  }
  if (strcmp(mode, "signal") == 0) {
    timeloom_enter(&outer);
    once();
    raise(atoi(argv[2]));
  }
  printf("%s %d %d\n", timeloom_version(), timeloom_is_active(), timeloom_is_recording());
  return argc > 2 ? atoi(argv[2]) : 0;
}
