// The handler of the signals that sample a thread: it writes one record into the thread's part of
// the file of samples. The sampler (sampler.cpp) sets all that it reads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "os/cpu_ticker.hpp"
#include "record/thread_recorder.hpp"
#include "spool/samples/sample_writer.hpp"

namespace timeloom::sample {

// The most functions of a stack. A chunk of the file has room for such a stack and for samples
// after it that have the same one.
constexpr std::size_t kMostFunctions = 800;

// The stacks of a thread, in its handler.
struct Stacks {
  std::array<std::uint32_t, kMostFunctions + 1> now;  // one more: the stack is deeper
  std::array<std::uint32_t, kMostFunctions> before;
  std::size_t depth = 0;  // of the one before
};

// Used by its thread alone but for the ticker and the time of the last sample.
struct SampledThread {
  os::CpuTicker ticker;
  std::uint64_t id = 0;  // of the kernel
  // nullptr: a tick is passed over. Written last, and first taken away, since ticks come late.
  std::atomic<const record::ThreadRecorder*> recorder = nullptr;
  spool::SampleWriter::Place place;       // in the file of `recorder`'s measurement
  std::atomic<std::uint64_t> cpu_ns = 0;  // at its last sample; others set it after a pause
  std::unique_ptr<Stacks> stacks;         // nullptr: samples have none
  std::atomic<std::uintptr_t> self = 0;   // the pthread id; 0: the thread has ended
  bool known_to_itself = false;           // as its t_sampled, which it ends with
  // Another thread has made it, and handlers look for it in a list until sampling ends.
  bool listed = false;
  SampledThread* next = nullptr;  // in the list
};

// Read by handlers of signals.
using Walk = std::size_t (*)(std::span<std::uint32_t>, std::uint32_t) noexcept;
using FindLine = std::uint32_t (*)(std::uint32_t) noexcept;
struct TickState {
  std::atomic<spool::SampleWriter*> writer = nullptr;  // nullptr: nothing is sampled
  std::atomic<std::uint32_t> in_handler = 0;
  std::atomic<std::uint64_t> period_ns = 0;
  std::atomic<bool> paused = false;
  std::atomic<Walk> walk = nullptr;           // nullptr: samples have no stacks
  std::atomic<FindLine> find_line = nullptr;  // nullptr: samples have no lines
  // The threads that others have brought in, which have no t_sampled until they record.
  std::atomic<SampledThread*> listed = nullptr;
};
extern constinit TickState g_ticks;
extern constinit thread_local SampledThread* t_sampled;

// The calling thread; nullptr: it is not known. Async-signal-safe.
SampledThread* ticked_thread() noexcept;
// Handles a tick of the calling thread, as os::TickHandler. Async-signal-safe.
void on_tick(std::uintptr_t address, bool by_timer) noexcept;
// Waits until no handler runs, which may still use the writer and the recorders of their threads.
void wait_for_handlers() noexcept;

}  // namespace timeloom::sample
