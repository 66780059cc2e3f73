// The promise of the setting overhead: measuring takes at most a share of the CPU time. Functions
// that are called often and briefly are found while the program runs, and throttled; or, where the
// instrumenter cannot leave out single functions, it pauses for stretches of time.
//
// One enter in kEntersPerSample of a thread is a sample. The first sample is one of the thread's
// first enters, a different one in each thread, so that threads that end early have their share of
// samples, too. The share that measuring takes is computed from the number of samples, the cost of
// an event in this program (slowed()), the cost of registrations, and the CPU time of the process.
// If it is too large, the code objects with the most samples are throttled: their visits are exact
// until then, and from there on their time belongs to their callers. They keep CodeMark::kThrottled
// as their word, and sys.monitoring makes no further calls for them. A paused instrumenter goes on
// when the CPU time has grown so far that its cost is within the limit again
// (instrumenter_pause.hpp). Needs the GIL, or on builds without one an attached thread state;
// nothing throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "python/interpreter/compat.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {

struct EventCost;
struct Instrumenter;

// A prime, so that no loop of the program is in step with it.
inline constexpr int kEntersPerSample = 251;

// Found by a load, as the thread's recorder is. 0: the thread has entered nothing yet.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local int t_enters_to_sample;

inline bool is_sample() noexcept { return --t_enters_to_sample <= 0; }
// Takes the enter of this code object, which is about to be recorded, as a sample. May throttle
// functions, this one, too.
void take_sample(PyCodeObject* code) noexcept;

// From now on, in a measurement that has begun: at most `limit` of the CPU time (0.05: 5 %) is for
// measuring. `metrics_seconds`: the time that an event takes to sample metrics.
void begin_budget(double limit, const EventCost& calibrated, const Instrumenter& instrumenter,
                  double metrics_seconds) noexcept;
// In the child of a fork: throttled functions stay throttled.
void continue_budget() noexcept;
// The measurement has ended: later ones time all functions again.
void end_budget() noexcept;

// The region of a code object that was throttled; UINT32_MAX: none was, or not this one. For
// handlers of signals, too: takes no lock, and the table that it reads stays until end_budget(),
// before which their samples end.
std::uint32_t throttled_region(PyCodeObject* code) noexcept;
// Whether any code object is throttled. Callable as throttled_region() is.
bool any_throttled() noexcept;

// The functions that this process has throttled.
std::size_t throttled_functions() noexcept;
// Removes the throttled functions from the regions of a greenlet that goes on, and marks the
// regions inside them as unrecorded.
void leave_out_throttled(std::vector<record::OpenRegion>& regions) noexcept;

}  // namespace timeloom::python
