#include "profile/score_events.hpp"

#include <span>
#include <string_view>

namespace timeloom::profile {

namespace {

using Names = std::span<const std::string_view>;

// The events of regions with these names.
struct EventOfNames {
  std::string_view event;
  bool stamped;  // with a time stamp of its own
  Names names;
};

// The events of regions whose names start so.
struct EventOfPrefix {
  std::string_view event;
  bool stamped;
  std::string_view prefix;
};

constexpr std::string_view kImmediateSends[] = {"MPI_Isend",      "MPI_Ibsend",    "MPI_Irsend",
                                                "MPI_Issend",     "MPI_Send_init", "MPI_Bsend_init",
                                                "MPI_Rsend_init", "MPI_Ssend_init"};
constexpr std::string_view kImmediateReceives[] = {"MPI_Irecv", "MPI_Irecv_init"};
constexpr std::string_view kCollectives[] = {
    "MPI_Allgather", "MPI_Allgatherv",     "MPI_Allreduce",
    "MPI_Alltoall",  "MPI_Alltoallv",      "MPI_Alltoallw",
    "MPI_Barrier",   "MPI_Bcast",          "MPI_Exscan",
    "MPI_Gather",    "MPI_Gatherv",        "MPI_Reduce",
    "MPI_Scan",      "MPI_Reduce_scatter", "MPI_Reduce_scatter_block",
    "MPI_Scatter",   "MPI_Scatterv"};
constexpr std::string_view kImmediateCollectives[] = {
    "MPI_Iallgather", "MPI_Iallgatherv",     "MPI_Iallreduce",
    "MPI_Ialltoall",  "MPI_Ialltoallv",      "MPI_Ialltoallw",
    "MPI_Ibarrier",   "MPI_Ibcast",          "MPI_Iexscan",
    "MPI_Igather",    "MPI_Igatherv",        "MPI_Ireduce",
    "MPI_Iscan",      "MPI_Ireduce_scatter", "MPI_Ireduce_scatter_block",
    "MPI_Iscatter",   "MPI_Iscatterv"};
constexpr std::string_view kAcquires[] = {"omp_set_lock", "omp_set_nest_lock",
                                          "pthread_mutex_unlock", "pthread_cond_wait",
                                          "pthread_cond_timedwait"};
constexpr std::string_view kReleases[] = {"omp_unset_lock", "omp_unset_nest_lock",
                                          "pthread_mutex_unlock", "pthread_cond_wait",
                                          "pthread_cond_timedwait"};
constexpr std::string_view kOpens[] = {"MPI_File_open", "creat",  "creat64", "open",    "open64",
                                       "openat",        "fdopen", "fopen",   "fopen64", "freopen"};
constexpr std::string_view kDeletes[] = {"MPI_File_close", "MPI_File_delete", "unlink", "unlinkat"};
constexpr std::string_view kSeeks[] = {"MPI_File_seek", "MPI_File_seek_shared",
                                       "lseek",         "lseek64",
                                       "fseek",         "fseeko",
                                       "fseeko64",      "fsetpos",
                                       "rewind"};
constexpr std::string_view kTransfers[] = {"MPI_File_read",
                                           "MPI_File_read_all",
                                           "MPI_File_read_at",
                                           "MPI_File_read_at_all",
                                           "MPI_File_read_ordered",
                                           "MPI_File_read_shared",
                                           "MPI_File_write",
                                           "MPI_File_write_all",
                                           "MPI_File_write_at",
                                           "MPI_File_write_at_all",
                                           "MPI_File_write_ordered",
                                           "MPI_File_write_shared",
                                           "fdatasync",
                                           "fsync",
                                           "syncfs",
                                           "pread",
                                           "pread64",
                                           "pwrite",
                                           "pwrite64",
                                           "preadv",
                                           "pwritev",
                                           "read",
                                           "write",
                                           "readv",
                                           "writev",
                                           "lio_listio",
                                           "fflush",
                                           "fgetc",
                                           "fgets",
                                           "fputc",
                                           "fputs",
                                           "fprintf",
                                           "fread",
                                           "fscanf",
                                           "fwrite",
                                           "getc",
                                           "getchar",
                                           "gets",
                                           "printf",
                                           "putchar",
                                           "puts",
                                           "scanf",
                                           "vfprintf",
                                           "vfscanf",
                                           "vscanf",
                                           "vprintf"};
constexpr std::string_view kIssues[] = {"MPI_File_iread",
                                        "MPI_File_iread_all",
                                        "MPI_File_iread_at",
                                        "MPI_File_iread_at_all",
                                        "MPI_File_iread_shared",
                                        "MPI_File_iwrite",
                                        "MPI_File_iwrite_all",
                                        "MPI_File_iwrite_at",
                                        "MPI_File_iwrite_at_all",
                                        "MPI_File_iwrite_shared",
                                        "MPI_File_read_all_begin",
                                        "MPI_File_read_at_all_begin",
                                        "MPI_File_read_ordered_begin",
                                        "MPI_File_write_all_begin",
                                        "MPI_File_write_at_all_begin",
                                        "MPI_File_write_ordered_begin",
                                        "sync",
                                        "aio_read",
                                        "aio_write"};
constexpr std::string_view kTests[] = {"MPI_File_read_all_end",
                                       "MPI_File_read_at_all_end",
                                       "MPI_File_read_ordered_end",
                                       "MPI_File_write_all_end",
                                       "MPI_File_write_at_all_end",
                                       "MPI_File_write_ordered_end",
                                       "sync",
                                       "aio_error",
                                       "aio_return"};
constexpr std::string_view kLocks[] = {"lockf", "flockfile", "ftrylockfile"};

constexpr std::string_view kOfMpiSend[] = {"MPI_Send",  "MPI_Bsend",    "MPI_Rsend",
                                           "MPI_Ssend", "MPI_Sendrecv", "MPI_Sendrecv_replace"};
constexpr std::string_view kOfMpiRecv[] = {"MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace"};
constexpr std::string_view kOfIoDuplicateHandle[] = {"dup", "dup2", "dup3", "fcntl"};
constexpr std::string_view kOfIoReleaseLock[] = {"funlockfile"};
constexpr std::string_view kOfIoOperationCancelled[] = {"aio_cancel"};

constexpr EventOfNames kOfNames[] = {
    {"MpiSend", true, kOfMpiSend},
    {"MpiIsend", true, kImmediateSends},
    {"MpiIsendComplete", true, kImmediateSends},
    {"MpiIrecvRequest", true, kImmediateReceives},
    {"MpiIrecv", true, kImmediateReceives},
    {"MpiRecv", true, kOfMpiRecv},
    {"MpiCollectiveBegin", false, kCollectives},
    {"MpiCollectiveEnd", true, kCollectives},
    {"NonBlockingCollectiveRequest", false, kImmediateCollectives},
    {"NonBlockingCollectiveComplete", true, kImmediateCollectives},
    {"ThreadAcquireLock", true, kAcquires},
    {"ThreadReleaseLock", true, kReleases},
    {"IoDestroyHandle", true, kOpens},
    {"IoCreateHandle", true, kOpens},
    {"IoDeleteFile", true, kDeletes},
    {"IoSeek", true, kSeeks},
    {"IoOperationComplete", true, kTransfers},
    {"IoOperationBegin", true, kTransfers},
    {"IoOperationIssued", true, kIssues},
    {"IoOperationTest", true, kTests},
    {"IoDuplicateHandle", true, kOfIoDuplicateHandle},
    {"IoTryLock", true, kLocks},
    {"IoAcquireLock", true, kLocks},
    {"IoReleaseLock", true, kOfIoReleaseLock},
    {"IoOperationCancelled", true, kOfIoOperationCancelled},
};

// Functions whose messages Timeloom records and Score-P does not count.
constexpr std::string_view kBothImmediate[] = {"MPI_Isendrecv", "MPI_Isendrecv_replace"};
constexpr std::string_view kOurImmediateReceives[] = {"MPI_Imrecv", "MPI_Recv_init",
                                                      "MPI_Isendrecv", "MPI_Isendrecv_replace"};
constexpr std::string_view kOurReceives[] = {"MPI_Mrecv"};

constexpr EventOfNames kOfOurNames[] = {
    {"MpiIsend", true, kBothImmediate},
    {"MpiIsendComplete", true, kBothImmediate},
    {"MpiIrecvRequest", true, kOurImmediateReceives},
    {"MpiIrecv", true, kOurImmediateReceives},
    {"MpiRecv", true, kOurReceives},
};

constexpr EventOfPrefix kOfPrefixes[] = {
    {"ThreadCreate", true, "pthread_create"},    {"ThreadBegin", true, "pthread_create"},
    {"ThreadEnd", true, "pthread_create"},       {"ThreadWait", true, "pthread_join"},
    {"ThreadFork", true, "!$omp parallel"},      {"ThreadJoin", true, "!$omp parallel"},
    {"ThreadTeamBegin", true, "!$omp parallel"}, {"ThreadTeamEnd", true, "!$omp parallel"},
    {"ThreadTaskCreate", false, "!$omp task "},  {"ThreadTaskComplete", false, "!$omp task "},
    {"ThreadTaskSwitch", false, "!$omp task"},   {"BufferFlush", true, "TRACE BUFFER FLUSH"},
};

constexpr std::string_view kOff = "MEASUREMENT OFF";

bool contains(Names names, std::string_view name) {
  for (const std::string_view one : names) {
    if (one == name) return true;
  }
  return false;
}

// In our recordings, functions with counts of type MPI_Count make the events of those with int.
std::string_view without_count_type(std::string_view name) {
  if (name.starts_with("MPI_") && name.ends_with("_c")) name.remove_suffix(2);
  return name;
}

// `ours`: then all regions but the program itself are in the trace.
bool has_enter_and_leave(const ScoreProfile::Region& region, bool ours) {
  if (region.paradigm == "measurement") return ours && !region.arguments;
  const bool of_user = region.paradigm.starts_with("user");
  return !(of_user && (region.name == kOff || is_execution(region)));
}

}  // namespace

bool is_execution(const ScoreProfile::Region& region) {
  return region.name.starts_with("instance=") || region.name.starts_with("iteration=");
}

std::uint64_t bytes_per_visit(const ScoreProfile::Region& region, const EventSizes& sizes,
                              bool sampled, std::uint64_t counters, bool ours) {
  if (region.paradigm == "sampling") return 0;
  std::uint64_t bytes = 0;
  const auto add = [&](std::string_view event, bool stamped, std::uint64_t values = 1) {
    bytes += sizes.of(event, values) + (stamped ? kTimestampSize : 0);
  };
  const bool execution = is_execution(region);
  if (!sampled && has_enter_and_leave(region, ours)) {
    add("Enter", true);
    add("Leave", true);
  }
  if (sampled && !execution) {
    add("CallingContextEnter", true);
    add("CallingContextLeave", true);
  }
  if (counters != 0 && !execution) {  // with the enter and with the leave, stamped once
    add("Metric", true, counters);
    add("Metric", false, counters);
  }
  const bool device = region.paradigm == "cuda" || region.paradigm == "opencl";
  if (region.root && region.arguments && !device) {
    add("ProgramBegin", true, *region.arguments);
    add("ProgramEnd", true);
  }
  const std::string_view name = ours ? without_count_type(region.name) : region.name;
  const auto add_named = [&](std::span<const EventOfNames> events) {
    for (const EventOfNames& one : events) {
      if (contains(one.names, name)) add(one.event, one.stamped);
    }
  };
  add_named(kOfNames);
  if (ours) add_named(kOfOurNames);
  for (const EventOfPrefix& one : kOfPrefixes) {
    if (region.name.starts_with(one.prefix)) add(one.event, one.stamped);
  }
  if (region.name.starts_with(kOff)) {  // off and on
    add("MeasurementOnOff", true);
    add("MeasurementOnOff", true);
  }
  return bytes;
}

}  // namespace timeloom::profile
