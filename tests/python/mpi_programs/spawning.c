/* Spawns two processes of itself, in the way that its first argument says ("once" or "multiple"),
   and talks to them.

   Each process prints a line of JSON as spawning.py does. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank;

/* A broadcast from the parents to the children, and messages both ways between processes of the
 * same rank. */
static void talk(MPI_Comm others, int root, int parents) {
  double data[20] = {0};
  MPI_Bcast(data, 4, MPI_DOUBLE, root, others);
  if (parents) {
    MPI_Send(data, 10, MPI_DOUBLE, rank, 1, others);
    MPI_Recv(data, 20, MPI_DOUBLE, rank, 2, others, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(data, 10, MPI_DOUBLE, rank, 1, others, MPI_STATUS_IGNORE);
    MPI_Send(data, 20, MPI_DOUBLE, rank, 2, others);
  }
  MPI_Barrier(others);
}

static MPI_Comm spawn(char* program, int multiple) {
  MPI_Comm made = MPI_COMM_NULL;
  char* programs[] = {program, program};
  int numbers[] = {1, 1};
  MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  if (multiple) {
    MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, numbers, infos, 0, MPI_COMM_WORLD, &made,
                            MPI_ERRCODES_IGNORE);
  } else {
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made,
                   MPI_ERRCODES_IGNORE);
  }
  return made;
}

int main(int count, char** words) {
  MPI_Comm others;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&others);
  const int parents = others == MPI_COMM_NULL;
  if (parents) others = spawn(words[0], strcmp(words[1], "multiple") == 0);
  talk(others, !parents ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, parents);
  MPI_Comm_disconnect(&others);
  printf(
      "{\"group\": \"%s\", \"rank\": %d, \"sent\": [[\"%s\", %d, %d, %d]], \"received\": [[\"%s\", "
      "%d, %d, %d]]}\n",
      parents ? "job" : "spawn 1", rank, parents ? "spawn 1" : "job", rank, parents ? 1 : 2,
      parents ? 80 : 160, parents ? "spawn 1" : "job", rank, parents ? 2 : 1, parents ? 160 : 80);
  MPI_Finalize();
  return 0;
}
