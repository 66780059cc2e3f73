/* Built with -finstrument-functions. Each function writes its name when it is entered and a dot
 * when it is left, so that the output is the list of all calls of the main thread; argv[1] is the
 * mode. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define CALLED __attribute__((noinline, noclone))

static jmp_buf g_back;
static volatile int g_sink;

PLAIN static void in(const char* name) { printf("%s ", name); }
PLAIN static void out(void) { printf(". "); }

CALLED static void leaf(void) {
  in("leaf");
  out();
}

CALLED void twice(void) {
  in("twice");
  leaf();
  leaf();
  out();
}

/* The jump leaves these two, and `catcher` closes them. */
CALLED static void thrower(int depth) {
  in("thrower");
  if (depth > 0) thrower(depth - 1);
  longjmp(g_back, 1);
}

CALLED void catcher(void) {
  in("catcher");
  if (setjmp(g_back) == 0) thrower(1);
  out();
  out();
  out();
}

/* The call at its end is one inside it: the function is left after it. */
CALLED static int tail(int n) {
  in("tail");
  return n == 0 ? g_sink : tail(n - 1);
}

PLAIN static void tails(void) {
  tail(3);
  for (int i = 0; i <= 3; ++i) out();
}

CALLED static void* silent(void* unused) {
  g_sink = 1;
  return unused;
}

PLAIN static void* work(void* unused) {
  for (int i = 0; i < 1000; ++i) silent(unused);
  return unused;
}

PLAIN static void threads(void) {
  pthread_t ids[3];
  for (int i = 0; i < 3; ++i) pthread_create(&ids[i], NULL, work, NULL);
  for (int i = 0; i < 3; ++i) pthread_join(ids[i], NULL);
}

/* Loads the libraries one after the other, each where the one before was, and calls all that they
 * have. */
PLAIN static void load(char** files, int keep) {
  for (; *files != NULL; ++files) {
    void* const library = dlopen(*files, RTLD_NOW);
    if (library == NULL) exit(9);
    void (*const call)(void) = (void (*)(void))dlsym(library, "call");
    if (getenv("SHOW_ADDRESSES") != NULL) fprintf(stderr, "%p\n", (void*)call);
    call();
    if (!keep) dlclose(library);
  }
}

/* A child of vfork() has the memory of its parent. */
PLAIN static void child_of_vfork(void) {
  const pid_t child = vfork();
  if (child == 0) {
    silent(NULL);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

PLAIN static void child_of_fork(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    silent(NULL);
    exit(0);
  }
  waitpid(child, NULL, 0);
}

/* The program's own allocation, which is recorded as well. */
void* malloc(size_t size) {
  static char room[1 << 26];
  static size_t used;
  const size_t at = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  if (at + size > sizeof room) abort();
  return room + at;
}
PLAIN void* calloc(size_t count, size_t size) {
  return memset(malloc(count * size), 0, count * size);
}
PLAIN void* realloc(void* before, size_t size) {
  void* const now = malloc(size);
  return before == NULL ? now : memmove(now, before, size);
}
PLAIN void free(void* unused) { (void)unused; }

int main(int count, char** words) {
  (void)count;
  const char* const mode = words[1];
  in("main");
  if (strcmp(mode, "calls") == 0) twice();
  if (strcmp(mode, "jump") == 0) catcher();
  if (strcmp(mode, "tail") == 0) tails();
  if (strcmp(mode, "threads") == 0) threads();
  if (strcmp(mode, "unload") == 0) load(words + 2, 0);
  if (strcmp(mode, "load") == 0) load(words + 2, 1);
  if (strcmp(mode, "vfork") == 0) child_of_vfork();
  if (strcmp(mode, "fork") == 0) child_of_fork();
  out();
  return 0;
}
