/* A ring of so many messages that its ranks convert their events themselves. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int n = 0; n < 3000; ++n) {
    int out = n, in = 0;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, n % 7, &in, 1, MPI_INT,
                 (rank + size - 1) % size, n % 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  printf("{\"rank\": %d}\n", rank);
  return 0;
}
