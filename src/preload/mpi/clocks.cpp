#include "preload/mpi/clocks.hpp"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "os/read_file.hpp"
#include "preload/mpi/mpi_library.hpp"
#include "record/measurement.hpp"

namespace timeloom::mpi {
namespace {

constexpr int kRounds = 10;
constexpr int kTag = 4711;
// "on": all ranks of the job use these wrappers. Only the user can know that, and a rank that does
// not answer would block the program, so nothing is compared otherwise. "each": the same, but each
// rank counts as a host, for tests on one machine.
constexpr char kVariable[] = "TIMELOOM_COMPARE_CLOCKS";

bool is_set_to(const char* wanted) noexcept {
  const char* const value = std::getenv(kVariable);
  return value != nullptr && std::strcmp(value, wanted) == 0;
}

int number_in(const char* variable) noexcept {
  const char* const value = std::getenv(variable);
  return value == nullptr ? 0 : std::atoi(value);
}

// True unless the launcher (Open MPI, Hydra, Slurm) reports a single host. A job on one host, some
// of whose ranks may lack these wrappers, then does not communicate.
bool has_several_hosts(int size) noexcept {
  if (number_in("SLURM_STEP_NUM_NODES") > 1) return true;
  for (const char* here : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    const int ranks = number_in(here);
    if (ranks != 0 && ranks < size) return true;
  }
  return false;
}

// Equal for all processes that share CLOCK_MONOTONIC.
std::uint64_t clock_id() noexcept try {
  return std::hash<std::string>{}(os::read_file("/proc/sys/kernel/random/boot_id"));
} catch (const std::exception&) {
  return 0;
}

using Split = int(Handle, int color, int key, Handle*);

int ask(Function function, Handle comm) noexcept {
  int value = 0;
  real<int(Handle, int*)>(function)(comm, &value);
  return value;
}

void send(Handle comm, int to, std::int64_t value) noexcept {
  using Send = int(const void*, int, Handle, int, int, Handle);
  real<Send>(Function::kSend)(&value, sizeof value, abi()->byte, to, kTag, comm);
}

std::int64_t receive(Handle comm, int from) noexcept {
  using Recv = int(void*, int, Handle, int, int, Handle, void*);
  alignas(8) std::byte status[kStatusBytes];
  std::int64_t value = 0;
  real<Recv>(Function::kRecv)(&value, sizeof value, abi()->byte, from, kTag, comm, status);
  return value;
}

std::int64_t now() noexcept { return static_cast<std::int64_t>(record::monotonic_ns()); }

// The difference from this process's clock to rank 0's: the shortest of some round trips counts,
// and its answer is assumed to have been sent in the middle.
std::int64_t offset_to(Handle comm, int parent) noexcept {
  std::int64_t shortest = INT64_MAX, offset = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::int64_t begin = now();
    send(comm, parent, 0);
    const std::int64_t there = receive(comm, parent);
    const std::int64_t end = now();
    if (end - begin >= shortest) continue;
    shortest = end - begin;
    offset = there - (begin + shortest / 2);
  }
  return offset;
}

// Answers the requests of a child; `offset`: of this process.
void answer(Handle comm, int child, std::int64_t offset) noexcept {
  for (int i = 0; i < kRounds; ++i) {
    receive(comm, child);
    send(comm, child, now() + offset);
  }
}

// True for one host: no clock differs from rank 0's.
bool is_one_clock(std::uint64_t id) noexcept {
  using Reduce = int(const void*, void*, int, Handle, Handle, Handle);
  const std::uint64_t own[2] = {id, ~id};
  std::uint64_t most[2] = {};
  real<Reduce>(Function::kAllreduce)(own, most, 2, abi()->unsigned_long, abi()->max, abi()->world);
  return most[0] == ~most[1];
}

}  // namespace

void HostClocks::begin() noexcept {
  const Handle world = abi()->world;
  const bool each = is_set_to("each");
  if (!each && !is_set_to("on")) return;
  if (!each && !has_several_hosts(ask(Function::kComm_size, world))) return;
  const std::uint64_t id = clock_id();
  if (!each && is_one_clock(id)) return;
  const int rank = ask(Function::kComm_rank, world);
  Handle host = 0, leaders = 0;
  const int color = each ? rank : static_cast<int>(id & 0x7fffffff);
  auto* const split = real<Split>(Function::kComm_split);
  split(world, color, rank, &host);
  const bool leads = ask(Function::kComm_rank, host) == 0;
  real<int(Handle*)>(Function::kComm_free)(&host);
  split(world, leads ? 0 : abi()->undefined, rank, &leaders);
  if (!leads) return;
  leaders_ = leaders;
  rank_ = ask(Function::kComm_rank, leaders);
  size_ = ask(Function::kComm_size, leaders);
}

// From the top of the tree down, because a process that answers must know its own offset.
void HostClocks::compare() noexcept {
  if (leaders_ == 0 || size_ < 2) return;
  int step = 1;
  while (step < size_) step *= 2;
  std::int64_t offset = 0;
  for (; step > 0; step /= 2) {
    const int place = rank_ % (2 * step);
    if (place == 0 && rank_ + step < size_) answer(leaders_, rank_ + step, offset);
    if (place == step) offset = offset_to(leaders_, rank_ - step);
  }
  if (rank_ != 0) record::note_clock_offset(offset);
}

}  // namespace timeloom::mpi
