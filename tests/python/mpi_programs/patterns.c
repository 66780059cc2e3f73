/* Communicates in the ways that depend on the binary interface of the MPI library: statuses,
   requests, constants, handles that the library makes, modes of files. The first argument names a
   file to write.

   Each process prints a line of JSON as patterns.py does. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kMost = 64 };  // ranks

static int rank, size;
static char sent[8192] = "", received[8192] = "", collectives[8192] = "";

static void add(char* list, const char* entry) {
  if (list[0] != '\0') strcat(list, ", ");
  strcat(list, entry);
}
static void message(char* list, int peer, int tag, int bytes) {
  char entry[64];
  snprintf(entry, sizeof entry, "[%d, %d, %d]", peer, tag, bytes);
  add(list, entry);
}
static void collective(const char* name, int out, int into) {
  char entry[64];
  snprintf(entry, sizeof entry, "[\"%s\", %d, %d]", name, out, into);
  add(collectives, entry);
}

/* Rank 0 takes from any rank, with any tag; the status says from whom and what. */
static void gather_by_status(void) {
  double data[2 * kMost];
  if (rank != 0) {
    MPI_Send(data, rank, MPI_DOUBLE, 0, 100 + rank, MPI_COMM_WORLD);
    message(sent, 0, 100 + rank, 8 * rank);
    return;
  }
  for (int i = 1; i < size; ++i) {
    MPI_Status status;
    int count;
    MPI_Recv(data, 2 * kMost, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    message(received, status.MPI_SOURCE, status.MPI_TAG, 8 * count);
  }
}

/* Both neighbours at once; nothing is asked of the statuses. One request is null from the
 * beginning. */
static void halo(void) {
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  int out = rank, in[2];
  MPI_Request requests[5];
  MPI_Irecv(&in[0], 1, MPI_INT, left, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, right, 8, MPI_COMM_WORLD, &requests[1]);
  requests[2] = MPI_REQUEST_NULL;
  MPI_Isend(&out, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &requests[3]);
  MPI_Isend(&out, 1, MPI_INT, left, 8, MPI_COMM_WORLD, &requests[4]);
  MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
  message(received, left, 7, 4);
  message(received, right, 8, 4);
  message(sent, right, 7, 4);
  message(sent, left, 8, 4);
}

/* Rank 0 takes some at a time; each says which. Then one to nobody, and one that is cancelled. */
static void some(void) {
  int data[kMost] = {0};
  if (rank != 0) {
    MPI_Send(data, 3, MPI_INT, 0, 3, MPI_COMM_WORLD);
    message(sent, 0, 3, 12);
  } else {
    int rooms[kMost][3], done[kMost], count;
    MPI_Request requests[kMost];
    MPI_Status statuses[kMost];
    for (int i = 1; i < size; ++i)
      MPI_Irecv(rooms[i], 3, MPI_INT, i, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i - 1]);
    for (int left = size - 1; left > 0; left -= count) {
      MPI_Waitsome(size - 1, requests, &count, done, statuses);
      for (int i = 0; i < count; ++i) message(received, done[i] + 1, statuses[i].MPI_TAG, 12);
    }
  }
  MPI_Request never;
  MPI_Status status;
  MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Irecv(data, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &never);
  MPI_Cancel(&never);
  MPI_Wait(&never, &status);
}

static void operations(void) {
  int one[4] = {rank}, many[4 * kMost] = {0}, back[4 * kMost];
  MPI_Barrier(MPI_COMM_WORLD);
  collective("BARRIER", 0, 0);
  MPI_Bcast(one, 4, MPI_INT, 1, MPI_COMM_WORLD);
  collective("BCAST", rank == 1 ? 16 * size : 0, 16);
  MPI_Allreduce(MPI_IN_PLACE, one, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  collective("ALLREDUCE", 16 * (size - 1), 16 * (size - 1));
  MPI_Alltoall(many, 4, MPI_INT, back, 4, MPI_INT, MPI_COMM_WORLD);
  collective("ALLTOALL", 16 * size, 16 * size);
}

/* A message in a half of the world, between ranks that it numbers anew. */
static void halves(void) {
  MPI_Comm half, none;
  int place, count, token = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &none);
  MPI_Comm_rank(half, &place);
  MPI_Comm_size(half, &count);
  if (place > 0) {
    MPI_Recv(&token, 1, MPI_INT, place - 1, 5, half, MPI_STATUS_IGNORE);
    message(received, rank - 2, 5, 4);
  }
  if (place + 1 < count) {
    MPI_Send(&token, 1, MPI_INT, place + 1, 5, half);
    message(sent, rank + 2, 5, 4);
  }
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
  MPI_Comm_free(&half);
}

/* Both at once, with others than in halo(), with nobody, and to nobody. */
static void exchange(void) {
#if MPI_VERSION >= 4
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  int out[3] = {rank}, in[4];
  MPI_Request requests[4];
  MPI_Isendrecv(out, 2, MPI_INT, right, 20, in, 2, MPI_INT, left, 20, MPI_COMM_WORLD, &requests[0]);
  MPI_Isendrecv_replace(&out[2], 1, MPI_INT, left, 21, right, 21, MPI_COMM_WORLD, &requests[1]);
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION >= 50000000  // Debian's dies of it
  MPI_Isendrecv(out, 2, MPI_INT, right, 22, in, 0, MPI_INT, MPI_PROC_NULL, 22, MPI_COMM_WORLD,
                &requests[2]);
  MPI_Isendrecv(out, 0, MPI_INT, MPI_PROC_NULL, 22, &in[2], 2, MPI_INT, left, 22, MPI_COMM_WORLD,
                &requests[3]);
  message(sent, right, 22, 8);
  message(received, left, 22, 8);
#else
  requests[2] = requests[3] = MPI_REQUEST_NULL;
#endif
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  message(sent, right, 20, 8);
  message(received, left, 20, 8);
  message(sent, left, 21, 4);
  message(received, right, 21, 4);
#endif
}

static void write_file(const char* path) {
  MPI_File file;
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, 0, path, 10, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gather_by_status();
  MPI_Barrier(MPI_COMM_WORLD);  // or the next message would be taken for it
  collective("BARRIER", 0, 0);
  halo();
  some();
  operations();
  halves();
  exchange();
  if (rank == 0) write_file(words[1]);
  printf("{\"rank\": %d, \"sent\": [%s], \"received\": [%s], \"collectives\": [%s]}\n", rank, sent,
         received, collectives);
  MPI_Finalize();
  return 0;
}
