#include "python/session/session_cost.hpp"

#include "python/observe/regions/code_regions.hpp"
#include "record/this_process.hpp"

namespace timeloom::python {
namespace {

double seconds(std::uint64_t nanoseconds) noexcept {
  return static_cast<double>(nanoseconds) * 1e-9;
}

}  // namespace

ProcessCost cost_of(const SessionCpuTimes& times, const record::Totals& totals,
                    const EventCost& events, std::uint64_t ignored_callbacks,
                    double wall_seconds) noexcept {
  const FirstSights sights = first_sights();
  const std::uint64_t now = record::process_cpu_ns();
  const std::uint64_t begin = times.launched_ns.value_or(times.begin_ns);
  ProcessCost cost;
  cost.events = static_cast<double>(totals.events - totals.samples);
  cost.event = events.event_seconds;
  cost.inside = events.inside_seconds;
  cost.timed = static_cast<double>(events.timed_callbacks);
  cost.ignored = events.ignored_seconds * static_cast<double>(ignored_callbacks);
  cost.functions =
      seconds(sights.cpu_ns) + events.function_seconds * static_cast<double>(sights.count);
  cost.start = seconds(times.started_ns - begin + (now - times.end_ns));
  cost.recorder = seconds(totals.cpu_ns);
  cost.cpu = seconds(now - (times.launched_ns ? 0 : begin));
  cost.wall = wall_seconds;
  cost.running = seconds(times.end_ns - times.started_ns);
  const record::ResidentMemory memory = record::resident_memory();
  cost.peak = static_cast<double>(memory.peak);
  cost.resident = static_cast<double>(memory.now);
  return cost;
}

}  // namespace timeloom::python
