/* Sends nothing, of no type, to nobody and to itself. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Send(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, MPI_COMM_SELF);
  MPI_Request request;
  MPI_Isend(NULL, 0, MPI_DATATYPE_NULL, 0, 2, MPI_COMM_SELF, &request);
  MPI_Recv(NULL, 0, MPI_DATATYPE_NULL, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  printf("{\"rank\": 0}\n");
  return 0;
}
