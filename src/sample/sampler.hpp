// Samples where the recorded threads of this process use their CPU time: the address of the
// instruction that a signal interrupts, with the innermost region that is recorded there, or the
// whole stack of functions, and the CPU time since the sample before. They go into a file of their
// own in the spool of the measurement (spool/samples/sample_format.hpp).
//
// start(), stop() and the rest belong to whoever starts and stops the measurement: one thread at a
// time. Only start_sampling() throws, and nothing but std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace timeloom::sample {

struct SampleOptions {
  std::uint64_t period_ns = 0;  // of CPU time of a thread; 0: nothing is sampled
  int signal = 0;               // SIGURG or SIGWINCH
  // Told of an end of sampling that nobody has asked for, once, by any thread.
  void (*on_end)(const char* reason) noexcept = nullptr;
  // Told of the first thread that cannot be sampled, by any thread.
  void (*on_failure)(const char* reason) noexcept = nullptr;
  // Finds the functions that the calling thread is in, by their regions, the innermost first, and
  // returns their number; called in the handler of the signal. `innermost`: the region that is
  // recorded, as the samples without stacks have it; UINT32_MAX: none. Regions may be marked by
  // kUnrecordedFrame. nullptr: samples have no stacks.
  std::size_t (*walk)(std::span<std::uint32_t> regions, std::uint32_t innermost) noexcept = nullptr;
  // Finds the source line at which the calling thread is in its innermost frame of a region; 0: not
  // known. Called in the handler of the signal. nullptr: samples have no lines.
  std::uint32_t (*line)(std::uint32_t region) noexcept = nullptr;
};

// The reason why nothing can be sampled by this signal at present; empty: there is none.
std::string reason_against(int signal);
// Samples the running measurement: the calling thread from here on, others once they record, or
// are brought in (below).
// Returns the reason why nothing is sampled; empty: it is.
std::string start_sampling(const SampleOptions& options);
// Samples the threads that another one has brought into the measurement (record::bring_in) and that
// are not sampled yet, from here on. They need not record anything. REQUIRES: nobody changes their
// recorders at the same time. Does nothing where nothing is sampled.
void sample_brought_threads() noexcept;
// Ends it, before the measurement is stopped. Does nothing where nothing is sampled.
void stop_sampling() noexcept;
// While it is paused, no samples are taken, and no thread has the CPU time of that stretch. Holds
// for this process and its forked children, whichever measurement runs. Any thread.
void pause_sampling(bool paused) noexcept;
// To be called when the program has changed its action for `signal`: it gets the signal from now
// on, if that is the one of the samples. Any thread.
void note_signal_change(int signal) noexcept;
// Around a call by which the calling thread gets signals that wait, or their names: no signal of
// the samples is among them, and none comes until the second of these. The CPU time of the call
// belongs to the next sample.
void stop_ticks_of_thread() noexcept;
void start_ticks_of_thread() noexcept;

}  // namespace timeloom::sample
