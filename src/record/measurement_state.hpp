// The state of the measurement in this process. Internal to src/record: measurement.cpp begins
// and ends it, attachment.cpp lets threads take part in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "os/call_filters.hpp"
#include "os/owned_mutex.hpp"
#include "record/cpu_account.hpp"
#include "record/definition_table.hpp"
#include "record/measurement.hpp"
#include "record/native/native_watch.hpp"
#include "record/native/resident_watch.hpp"

namespace timeloom::record {

struct Attached {
  ThreadRecorder* recorder;
  std::uintptr_t thread;  // pthread id
  std::uint64_t id;       // of the kernel
  ThreadCpu cpu;
};

// The recorder of a thread that another one has brought in, until it records something itself.
struct Brought {
  std::unique_ptr<ThreadRecorder> recorder;
  std::uint64_t id;  // of the kernel: pthread ids are used again
};

struct State {
  os::OwnedMutex mutex;  // guards what follows; never taken on the event path
  DefinitionTable definitions;
  std::unique_ptr<spool::Writer> writer;
  os::File stopped;                // definitions of the measurement before, which is closed
  std::vector<Attached> attached;  // the recorders that take part, one a thread
  std::map<std::uintptr_t, Brought> brought;  // by pthread id
  std::set<std::uint64_t> kept_off;           // threads that take no part in any measurement
  std::uint32_t next_location = 0;
  std::uint32_t next_io_handle = 0;
  std::uint32_t tracks = 0;      // of these
  std::uint32_t of_process = 0;  // 1: one of these has its metrics only
  // Threads that run and of which note_creation() spoke, and whether an interpreter runs them.
  std::map<std::uint32_t, bool> created;
  std::uint64_t finished_events = 0;  // of threads that have ended
  // The starts and ends of threads and tasks whose creator is known: weaving makes events of a
  // trace for them.
  std::uint64_t begins_and_ends = 0;
  std::uint64_t finished_aggregated = 0;  // of these, in profiles
  std::uint64_t finished_samples = 0;
  std::uint64_t finished_bytes = 0;  // of their profiles
  std::uint64_t unmatched_leaves = 0;
  CpuAccount cpu;
  NativeWatch native;
  ResidentWatch resident;
  std::atomic<ThreadNamer> namer = nullptr;  // called without the mutex
  LocationGroup process;
  std::string parent;
  bool profile = false;  // calls are aggregated
  std::uint32_t profile_depth = 0;
  std::size_t max_depth = 0;
  MetricPlan metrics;
  MetricId metrics_of_thread;  // the first of each kind; undefined: none
  MetricId metrics_of_process;
  MetricId waiting;                   // undefined: it is not measured
  std::uint64_t without_metrics = 0;  // threads that could not be sampled
  std::vector<OpenRegion> inherited;  // the regions open on the forking thread
  bool inherited_recording = true;
  os::CallFilters filters;
};

// Never destroyed: threads may outlive the static objects of the program.
State& state();

// Forgets the threads that were brought in and recorded nothing themselves. REQUIRES: the mutex,
// and that their recorders take no part any more.
void forget_brought(State& state) noexcept;
// The id of the process that measures itself; 0: none has.
std::uint64_t measured_process() noexcept;

// Called when a measurement begins: visitors have the kernel make barriers, see native_call.hpp.
void offer_barriers() noexcept;

// Events that native calls have missed during visits (native_call.hpp) count as lost; without a
// measurement, as nothing. REQUIRES: the mutex.
void count_missed_events(State& state) noexcept;

// The mutex of the state, while no thread is inside a NativeCall and none begins one:
// for functions that touch the recorders of other threads. Not inside a NativeCall.
class Halted {
 public:
  Halted() noexcept;
  ~Halted();
  Halted(const Halted&) = delete;
  Halted& operator=(const Halted&) = delete;

 private:
  std::unique_lock<os::OwnedMutex> lock_;
};

}  // namespace timeloom::record
