/* With -DLIBRARY=N, an MPI library whose only process has rank N: with the names for tools, or,
   -DWITHOUT_PMPI, without them. With -DUSER, a library that uses it. Else a program that opens
   such libraries, which its words name, uses each twice, and returns whether each has had its own.
 */
#if defined LIBRARY
#ifdef WITHOUT_PMPI
#define FUNCTION(name, ...) int MPI_##name(__VA_ARGS__)
#else
#define FUNCTION(name, ...)                                                \
  int MPI_##name(__VA_ARGS__) __attribute__((weak, alias("PMPI_" #name))); \
  int PMPI_##name(__VA_ARGS__)
#endif
static int begun;
FUNCTION(Init, int* count, char*** words) { return begun++ != 0 || count != 0 || words != 0; }
FUNCTION(Initialized, int* flag) { return *flag = begun, 0; }
FUNCTION(Comm_rank, void* communicator, int* rank) {
  return *rank = LIBRARY, !begun || communicator != (void*)LIBRARY;
}
FUNCTION(Finalize, void) { return --begun; }
#elif defined USER
int MPI_Init(int* count, char*** words);
int MPI_Initialized(int* flag);
int MPI_Comm_rank(void* communicator, int* rank);
int MPI_Finalize(void);

/* 0: all is as it should be. */
int begin(long library) {
  int flag = -1, rank = -1;
  if (MPI_Initialized(&flag) != 0 || flag != 0 || MPI_Init(0, 0) != 0) return 1;
  return MPI_Initialized(&flag) != 0 || flag != 1 || MPI_Comm_rank((void*)library, &rank) != 0 ||
         rank != library;
}
int end(long library) {
  int rank = -1;
  if (MPI_Comm_rank((void*)library, &rank) != 0 || rank != library) return 2;
  const int result = MPI_Finalize();
  return result;
}
#else
#include <dlfcn.h>
#include <stdio.h>

#ifndef VISIBLE /* to whom all but the first are */
#define VISIBLE RTLD_LOCAL
#endif

int main(int count, char** words) {
  int wrong = 0;
  void* users[8];
  for (long i = 1; i < count && i < 8; ++i) {
    users[i] = dlopen(words[i], RTLD_NOW | (i > 1 ? VISIBLE : RTLD_LOCAL));
    if (users[i] == 0) return fprintf(stderr, "%s\n", dlerror()), 3;
    wrong |= ((int (*)(long))dlsym(users[i], "begin"))(i);
  }
  for (long i = 1; i < count && i < 8; ++i) wrong |= ((int (*)(long))dlsym(users[i], "end"))(i);
  return wrong;
}
#endif
