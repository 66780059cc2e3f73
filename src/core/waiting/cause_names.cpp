#include "core/waiting/cause_names.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/regions/dotted_name.hpp"
#include "core/teams/openmp_waits.hpp"

namespace timeloom {

namespace {

struct NamedCause {
  std::string_view name;
  WaitingCause cause;
};

// Functions that wait for one thing only.
constexpr NamedCause kEnds[] = {
    {"threading.Thread.join", WaitingCause::kThread},
    {"threading.Thread._wait_for_tstate_lock", WaitingCause::kThread},
    {"threading._shutdown", WaitingCause::kThread},
    {"_thread._ThreadHandle.join", WaitingCause::kThread},
    {"multiprocessing.process.BaseProcess.join", WaitingCause::kThread},
    {"multiprocessing.popen_fork.Popen.poll", WaitingCause::kThread},
    {"multiprocessing.popen_fork.Popen.wait", WaitingCause::kThread},
    {"multiprocessing.connection.wait", WaitingCause::kThread},
    {"multiprocessing.connection.Connection._recv", WaitingCause::kThread},
    {"multiprocessing.pool.worker", WaitingCause::kThread},
    {"multiprocessing.pool.Pool._handle_tasks", WaitingCause::kThread},
    {"multiprocessing.pool.Pool._handle_results", WaitingCause::kThread},
    {"concurrent.futures.thread._worker", WaitingCause::kThread},
    {"subprocess.Popen._try_wait", WaitingCause::kThread},
    {"subprocess.Popen._wait", WaitingCause::kThread},
    {"posix.waitpid", WaitingCause::kThread},
    {"os.waitpid", WaitingCause::kThread},
    {"threading.Condition.wait", WaitingCause::kLock},
    {"threading.Event.wait", WaitingCause::kLock},
    {"threading.Barrier.wait", WaitingCause::kLock},
    {"threading.Semaphore.acquire", WaitingCause::kLock},
    {"_thread.lock.acquire", WaitingCause::kLock},
    {"_thread.RLock.acquire", WaitingCause::kLock},
    {"multiprocessing.synchronize.SemLock.acquire", WaitingCause::kLock},
    {"time.sleep", WaitingCause::kTime},
    {"socket.socket.accept", WaitingCause::kIo},
    {"socket.socket.recv", WaitingCause::kIo},
    {"socket.socket.recv_into", WaitingCause::kIo},
    {"socket.socket.sendall", WaitingCause::kIo},
    {"socket.socket.connect", WaitingCause::kIo}};

// Functions of asyncio in which a task is suspended for one thing only.
constexpr NamedCause kSuspensions[] = {
    {"asyncio.tasks.sleep", WaitingCause::kTime},
    {"asyncio.locks.Lock.acquire", WaitingCause::kLock},
    {"asyncio.locks.Semaphore.acquire", WaitingCause::kLock},
    {"asyncio.locks.Condition.wait", WaitingCause::kLock},
    {"asyncio.locks.Event.wait", WaitingCause::kLock},
    {"asyncio.locks.Barrier._wait", WaitingCause::kLock},
    {"asyncio.locks.Barrier._block", WaitingCause::kLock},
    {"asyncio.queues.Queue.get", WaitingCause::kLock},
    {"asyncio.queues.Queue.put", WaitingCause::kLock},
    {"asyncio.queues.Queue.join", WaitingCause::kLock},
    {"asyncio.threads.to_thread", WaitingCause::kThread},
    {"asyncio.subprocess.Process.wait", WaitingCause::kThread},
    {"asyncio.base_subprocess.BaseSubprocessTransport._wait", WaitingCause::kThread},
    {"asyncio.streams.StreamReader._wait_for_data", WaitingCause::kIo},
    {"asyncio.streams.FlowControlMixin._drain_helper", WaitingCause::kIo},
    {"asyncio.base_events.BaseEventLoop.getaddrinfo", WaitingCause::kIo},
    {"asyncio.selector_events.BaseSelectorEventLoop.sock_accept", WaitingCause::kIo},
    {"asyncio.selector_events.BaseSelectorEventLoop.sock_connect", WaitingCause::kIo},
    {"asyncio.selector_events.BaseSelectorEventLoop.sock_recv", WaitingCause::kIo},
    {"asyncio.selector_events.BaseSelectorEventLoop.sock_recv_into", WaitingCause::kIo},
    {"asyncio.selector_events.BaseSelectorEventLoop.sock_sendall", WaitingCause::kIo}};

// Functions of trio, by the starts of their names.
constexpr NamedCause kTrioSuspensions[] = {
    {"trio._timeouts.", WaitingCause::kTime},
    {"trio._sync.", WaitingCause::kLock},
    {"trio._channel.", WaitingCause::kLock},
    {"trio._core._parking_lot.ParkingLot.park", WaitingCause::kLock},
    {"trio._threads.to_thread_run_sync", WaitingCause::kThread},
    {"trio._subprocess.Process.wait", WaitingCause::kThread},
    {"trio._core._generated_io_", WaitingCause::kIo}};

}  // namespace

std::optional<WaitingCause> cause_by_name(std::string_view name) {
  const std::string dotted = dotted_name(name);
  const auto found = std::ranges::find(kEnds, std::string_view(dotted), &NamedCause::name);
  if (found != std::end(kEnds)) return found->cause;
  if (dotted.starts_with("MPI_")) return WaitingCause::kMessage;
  if (dotted.starts_with("select.") || dotted.ends_with("Selector.select"))
    return WaitingCause::kIo;
  return {};
}

WaitingCause cause_in(const Region& region, WaitingCause seen,
                      const std::optional<WaitingCause>& by_name) {
  if (seen == WaitingCause::kProcessor || seen == WaitingCause::kGil) return seen;
  if (region.paradigm == Paradigm::kMpi) return WaitingCause::kMessage;
  if (region.paradigm == Paradigm::kOpenMp && region.role == RegionRole::kCritical)
    return WaitingCause::kLock;
  if (takes_openmp_lock(region)) return WaitingCause::kLock;
  if (region.paradigm == Paradigm::kOpenMp && region.role == RegionRole::kOrdered)
    return WaitingCause::kThread;
  if (!by_name) return seen;
  // A join waits at a lock that the other thread releases.
  if (*by_name == WaitingCause::kThread && seen == WaitingCause::kLock) return *by_name;
  return seen == WaitingCause::kUnknown ? *by_name : seen;
}

RegionCauses::RegionCauses(const Definitions& definitions) {
  causes_.resize(definitions.regions.size());
  for (std::size_t i = 0; i < causes_.size(); ++i) {
    const Region& region = definitions.regions[i];
    const std::optional<WaitingCause> by_name = cause_by_name(region.name);
    for (std::uint32_t seen = 0; seen < kWaitingCauses; ++seen) {
      causes_[i][seen] = cause_in(region, WaitingCause{seen}, by_name);
    }
  }
}

bool is_of_event_loop(std::string_view name) {
  return name.starts_with("asyncio.") || name.starts_with("trio.");
}

std::optional<WaitingCause> cause_of_suspension(std::string_view name) {
  if (!is_of_event_loop(name)) return {};
  const std::string dotted = dotted_name(name);
  for (const NamedCause& one : kTrioSuspensions) {
    if (dotted.starts_with(one.name)) return one.cause;
  }
  const auto found = std::ranges::find(kSuspensions, std::string_view(dotted), &NamedCause::name);
  if (found == std::end(kSuspensions)) return {};
  return found->cause;
}

bool is_idle_suspension(std::string_view name) {
  const std::string dotted = dotted_name(name);
  return dotted == "asyncio.queues.Queue.get" ||
         dotted == "trio._channel.MemoryReceiveChannel.receive";
}

}  // namespace timeloom
