// The cost of measuring a program, in seconds of CPU time, by what took it.
//
// A process that ends its measurement writes what it knows as the property kProcessCost of its
// spool; the weave adds them up and leaves kRunCost and kOverhead in the run. Plain values and
// pure functions, for any thread. A text may have been written by anybody: numbers that are
// none, negative or infinite count as 0.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom {

inline constexpr char kProcessCost[] = "timeloom::process_cost";
// The same of each process in the results of runs that need it, by its number there.
std::string process_cost_property(std::size_t group);
inline constexpr char kRunCost[] = "timeloom::cost";
// shares_of() of CPU time.
inline constexpr char kOverhead[] = "timeloom::overhead";

// One process: some of it was timed, the events were counted.
struct ProcessCost {
  double events = 0;     // their number
  double event = 0;      // calibrated seconds of one; 0: not calibrated in this process
  double inside = 0;     // of what a call costs, the seconds between its enter and its leave
  double timed = 0;      // callbacks that were timed in the program itself, on which `event` rests
  double ignored = 0;    // seconds in callbacks of the interpreter that recorded nothing
  double functions = 0;  // seconds to decide on functions seen for the first time, and name them
  double start = 0;      // seconds until the program began, and from its end on
  double recorder = 0;   // seconds of the drain, and for new segments
  double cpu = 0;        // user and system time of the process, with all of this
  double wall = 0;       // seconds from begin to end
  double running = 0;    // CPU time within these; 0: not known
  double peak = 0;       // bytes of memory that it had at most; 0: not known
  double resident = 0;   // and those at its end
  double callback = 0;   // ticks of a timed callback on average; 0: too few were timed
  // Of a process that was not calibrated, what is in `functions` and `ignored` of others:
  double sights = 0;     // functions seen for the first time, what the interpreter did for them
  double callbacks = 0;  // those that recorded nothing
  // As calibrated, for the other processes:
  double sight = 0;             // seconds of one of these sights
  double ignored_callback = 0;  // seconds of one of these callbacks
  double quick_event = 0;       // seconds of an event whose callback takes
  double quick_callback = 0;    // so many ticks; 0: no callback is timed
  double per_tick = 0;          // seconds by which it takes longer for each tick more

  double total() const noexcept { return events * event + ignored + functions + start + recorder; }
};

// The seconds by which observing one call lengthens the visit itself and the caller's own time.
struct CallCost {
  double inside = 0;
  double outside = 0;
  double most = 0;  // the truth may be so many times as much
};

// A run: the sums over its processes.
struct MeasuringCost {
  double events = 0;
  double functions = 0;
  double start = 0;
  double recorder = 0;
  double weave = 0;  // after the program; no part of total()
  double cpu = 0;    // of the program's processes, with total()
  double wall = 0;   // of the longest
  double event = 0;  // of one, the mean over the events of all processes
  double inside = 0;
  double timed = 0;    // callbacks
  double unknown = 0;  // processes that do not say their cost, and are in none of these sums

  std::uint64_t unknown_processes() const noexcept;
  // The truth may be so many times what is stated.
  double most_of_stated() const noexcept;

  double total() const noexcept { return events + functions + start + recorder; }
  // A call has two events.
  CallCost call() const noexcept;
};

std::string to_text(const ProcessCost& cost);
std::string to_text(const MeasuringCost& cost);
ProcessCost process_cost_of(std::string_view text);
// The cost that the properties of a run state; none: it was not calibrated, the run is too short
// for an estimate, which comes to more than all that it took, or it is of another tool.
std::optional<MeasuringCost> measuring_cost_of(
    const std::map<std::string, std::string>& properties);

// Adds up costs of processes. One that was not calibrated, as a child is, has the cost of an event
// from another, raised by what its own callbacks took.
class CostSum {
 public:
  void add(const ProcessCost& process);
  // One that was killed, became another program, or still runs.
  void add_unknown() noexcept { ++sum_.unknown; }
  // None: no process was calibrated.
  std::optional<MeasuringCost> sum() const;

 private:
  MeasuringCost sum_;  // `event` and `inside`: of all events
  double events_ = 0;  // of processes in it
  ProcessCost last_;   // that was calibrated
  std::vector<ProcessCost> uncalibrated_;
};

// Where the truth may lie of a stated share: from 0.7 of it to twice as much, or to three times as
// much where no callbacks were timed, and two points each way at least, within 0 and 1. Of a dozen
// programs (bench/truth.py) it was 0.7 to 1.8 times as much, or 0.7 to 5 times.
struct Band {
  double least = 0;
  double most = 0;
};
inline constexpr double kLeastOfStated = 0.7;
Band band_of(double share, double most_of_stated) noexcept;

// The cost as a share of CPU time, of wall time. The wall time of a program that keeps several
// cores busy is reckoned as its CPU time; the drain works beside the program.
struct Shares {
  double cpu = 0;
  double wall = 0;
  Band cpu_band{};
};
Shares shares_of(const MeasuringCost& cost) noexcept;

}  // namespace timeloom
