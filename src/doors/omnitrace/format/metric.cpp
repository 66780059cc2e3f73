#include "doors/omnitrace/format/metric.hpp"

#include <algorithm>
#include <utility>

namespace timeloom::omnitrace {

namespace {

using enum Kind;
using enum Measure;

const std::vector<Metric> kMetrics = {
    {"trip_count", "trip_count", kTrips, kNothing, "Counts number of invocations", 61},
    {"wall_clock",
     "wall_clock",
     kTime,
     kWallTime,
     "Real-clock timer (i.e. wall-clock timer)",
     78,
     {"real_clock", "virtual_clock"}},
    {"monotonic_clock", "monotonic_clock", kTime, kWallTime,
     "Wall-clock timer which will continue to increment even while the system is asleep", 0},
    {"thread_cpu_clock",
     "thread_cpu_clock",
     kTime,
     kIncrease,
     "CPU-clock timer for the calling thread",
     0,
     {},
     {"ru_utime", "ru_stime"},
     {},
     true},
    {"thread_cpu_util",
     "thread_cpu_util",
     kPercent,
     kShare,
     "Percentage of CPU-clock time divided by wall-clock time for the calling thread",
     0,
     {"thread_cpu_utilization"},
     {"ru_utime", "ru_stime"},
     {},
     true},
    {"user_mode_time",
     "user_mode_time",
     kTime,
     kIncrease,
     "CPU time spent executing in user mode (via rusage)",
     0,
     {},
     {"ru_utime"}},
    {"kernel_mode_time",
     "kernel_mode_time",
     kTime,
     kIncrease,
     "CPU time spent executing in kernel mode (via rusage)",
     0,
     {},
     {"ru_stime"}},
    {"peak_rss",
     "peak_rss",
     kMemory,
     kIncrease,
     "Measures changes in the high-water mark for the amount of memory allocated in RAM. May "
     "fluctuate if swap is enabled",
     0,
     {"memory_hwm", "memory_high_water_mark"},
     {"ru_maxrss"}},
    {"current_peak_rss",
     "current_peak_rss",
     kMemory,
     kBothEnds,
     "Absolute value of high-water mark of memory allocation in RAM",
     0,
     {},
     {"ru_maxrss"},
     {"start peak rss", " stop peak rss"}},
    {"num_minor_page_faults",
     "minor_page_faults",
     kCounter,
     kIncrease,
     "Number of page faults serviced without any I/O activity via 'reclaiming' a page frame from "
     "the list of pages awaiting reallocation",
     0,
     {},
     {"ru_minflt"}},
    {"num_major_page_faults",
     "major_page_faults",
     kCounter,
     kIncrease,
     "Number of page faults serviced that required I/O activity",
     0,
     {},
     {"ru_majflt"}},
    {"voluntary_context_switch",
     "vol_cxt_swch",
     kCounter,
     kIncrease,
     "Number of context switches due to a process voluntarily giving up the processor before its "
     "time slice was completed",
     0,
     {},
     {"ru_nvcsw"}},
    {"priority_context_switch",
     "prio_cxt_swch",
     kCounter,
     kIncrease,
     "Number of context switch due to higher priority process becoming runnable or because the "
     "current process exceeded its time slice",
     0,
     {},
     {"ru_nivcsw"}},
    {"num_io_in",
     "io_in",
     kCounter,
     kIncrease,
     "Number of times the filesystem had to perform input",
     0,
     {},
     {"ru_inblock"}},
    {"num_io_out",
     "io_out",
     kCounter,
     kIncrease,
     "Number of times the filesystem had to perform output",
     0,
     {},
     {"ru_oublock"}},
};

}  // namespace

std::span<const Metric> all_metrics() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
  for (const Metric& metric : kMetrics) {
    if (metric.id == name || std::ranges::find(metric.aliases, name) != metric.aliases.end()) {
      return &metric;
    }
  }
  return nullptr;
}

}  // namespace timeloom::omnitrace
