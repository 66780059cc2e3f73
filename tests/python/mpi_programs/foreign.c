/* An MPI library of a kind that nobody knows, with the text of one that is known: it keeps the
   second version of the standard's binary interface, in which a handle may be anything. With
   -DPROGRAM, what uses it. */
#ifdef PROGRAM
int MPI_Init(int* count, char*** words);
int MPI_Send(const void* data, int count, void* type, int to, int tag, void* communicator);
int MPI_Finalize(void);

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Send(words, 1, (void*)3, 0, 0, (void*)5);
  return MPI_Finalize();
}
#else
#include <string.h>

int PMPI_Abi_get_version(int* major, int* minor) {
  *major = 2;
  *minor = 0;
  return 0;
}
int PMPI_Get_library_version(char* text, int* length) {
  strcpy(text, "MPICH Version: 7.0.0");
  *length = (int)strlen(text);
  return 0;
}
int PMPI_Init(int* count, char*** words) { return count == 0 || words == 0; }
int PMPI_Send(const void* data, int count, void* type, int to, int tag, void* communicator) {
  return data == 0 || count != 1 || type != (void*)3 || to != 0 || tag != 0 ||
         communicator != (void*)5;
}
int PMPI_Type_size(void* type, int* size) {
  *size = 4;
  return type != (void*)3;
}
int PMPI_Finalize(void) { return 0; }
int MPI_Init(int*, char***) __attribute__((alias("PMPI_Init")));
int MPI_Send(const void*, int, void*, int, int, void*) __attribute__((alias("PMPI_Send")));
int MPI_Finalize(void) __attribute__((alias("PMPI_Finalize")));
#endif
