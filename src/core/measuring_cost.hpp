// The cost of measuring a program, in seconds of CPU time, split by cause.
//
// A process that ends its measurement writes its own cost as the property kProcessCost of its
// spool; the weave adds them up and writes kRunCost and kOverhead into the run. Plain values
// and pure functions, for any thread. A text may come from anybody: malformed, negative and
// infinite numbers count as 0.
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
// The name of the property that holds the cost of one process in a run, by its group's number.
std::string process_cost_property(std::size_t group);
inline constexpr char kRunCost[] = "timeloom::cost";
// shares_of() of CPU time.
inline constexpr char kOverhead[] = "timeloom::overhead";

// The cost in one process: some parts were timed, events were counted.
struct ProcessCost {
  double events = 0;     // their number
  double event = 0;      // calibrated seconds of one; 0: not calibrated in this process
  double inside = 0;     // the part of a call's cost that lies between its enter and its leave
  double timed = 0;      // callbacks timed in the program itself, from which `event` was computed
  double ignored = 0;    // seconds in callbacks of the interpreter that recorded nothing
  double functions = 0;  // seconds to decide on functions seen for the first time, and name them
  double start = 0;      // seconds until the program began, and from its end on
  double recorder = 0;   // seconds of the drain, and for new segments
  double cpu = 0;        // user and system time of the process, with all of this
  double wall = 0;       // seconds from the start to the end of recording
  double running = 0;    // CPU time in these seconds; 0: not known
  double peak = 0;       // peak of resident memory in bytes; 0: not known
  double resident = 0;   // resident memory at the end, in bytes
  double callback = 0;   // mean ticks of a timed callback; 0: too few were timed
  // Counts from a process that was not calibrated, in place of `functions` and `ignored`:
  double registrations = 0;  // functions seen first, with the interpreter's work for them
  double callbacks = 0;      // callbacks that recorded nothing
  // Calibrated costs, for the processes that were not:
  double registration = 0;      // seconds of one of these registrations
  double ignored_callback = 0;  // seconds of one of these callbacks
  double quick_event = 0;       // seconds of an event whose callback takes
  double quick_callback = 0;    // this number of ticks; 0: no callback is timed
  double per_tick = 0;          // seconds to add for each tick beyond that

  double total() const noexcept { return events * event + ignored + functions + start + recorder; }
};

// The seconds that recording one call adds to the visit itself and to its caller's exclusive time.
struct CallCost {
  double inside = 0;
  double outside = 0;
  double most = 0;  // the true cost may be up to this many times as much
};

// The cost of a run: sums over its processes.
struct MeasuringCost {
  double events = 0;
  double functions = 0;
  double start = 0;
  double recorder = 0;
  double weave = 0;  // after the program; not in total()
  double cpu = 0;    // of the program's processes; contains total()
  double wall = 0;   // of the process that ran longest
  double event = 0;  // of one event: the mean over the events of all processes
  double inside = 0;
  double timed = 0;    // callbacks
  double unknown = 0;  // processes whose cost is not known, and which are in none of these sums

  std::uint64_t unknown_processes() const noexcept;
  // The true cost may be up to this many times the stated one.
  double most_of_stated() const noexcept;

  double total() const noexcept { return events + functions + start + recorder; }
  // A call has two events.
  CallCost call() const noexcept;
};

std::string to_text(const ProcessCost& cost);
std::string to_text(const MeasuringCost& cost);
ProcessCost process_cost_of(std::string_view text);
// The cost in the properties of a run. None: it was not calibrated, another tool wrote the run, or
// the run is so short that the estimated cost would exceed its whole CPU time.
std::optional<MeasuringCost> measuring_cost_of(
    const std::map<std::string, std::string>& properties);

// Adds up costs of processes. Child processes are not calibrated: the cost of an event is taken
// from another process, and increased by the extra time of the child's own callbacks.
class CostSum {
 public:
  void add(const ProcessCost& process);
  // Counts a process that was killed, became another program, or still runs.
  void add_unknown() noexcept { ++sum_.unknown; }
  // None: no process was calibrated.
  std::optional<MeasuringCost> sum() const;

 private:
  MeasuringCost sum_;  // its `event` and `inside` are sums over all events
  double events_ = 0;  // of the processes in `sum_`
  ProcessCost last_;   // the last process that was calibrated
  std::vector<ProcessCost> uncalibrated_;
};

// The limits between which the true share may lie: from 0.7 times the stated share to twice as
// much (three times if no callbacks were timed), and at least two points to each side, within 0 and
// 1. For a dozen programs (bench/truth.py) the true share was 0.7 to 1.8 times the stated one, and
// 0.7 to 5 times where no callbacks were timed.
struct ErrorRange {
  double least = 0;
  double most = 0;
};
inline constexpr double kLeastOfStated = 0.7;
ErrorRange error_range_of(double share, double most_of_stated) noexcept;

// The cost as a share of CPU time and of wall time. A program that keeps several cores busy is
// taken to have as much wall time as CPU time; the drain runs beside the program.
struct Shares {
  double cpu = 0;
  double wall = 0;
  ErrorRange cpu_error_range{};
};
Shares shares_of(const MeasuringCost& cost) noexcept;

}  // namespace timeloom
