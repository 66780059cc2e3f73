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
                    const EventCost& events, const CallbackTimes& in_program,
                    std::uint64_t ignored_callbacks, double wall_seconds) noexcept {
  const Registrations registered = registrations();
  const std::uint64_t now = record::process_cpu_ns();
  const std::uint64_t begin = times.launched_ns.value_or(times.begin_ns);
  ProcessCost cost;
  cost.events = static_cast<double>(totals.events - totals.samples);
  cost.event = events.event_seconds;
  cost.inside = events.inside_seconds;
  cost.timed = in_program.enough() ? static_cast<double>(in_program.calls()) : 0;
  cost.callback = in_program.enough() ? in_program.mean() : 0;
  cost.functions = seconds(registered.cpu_ns);
  const auto count = static_cast<double>(registered.count);
  const auto ignored = static_cast<double>(ignored_callbacks);
  if (events.event_seconds > 0) {
    cost.functions += events.function_seconds * count;
    cost.ignored = events.ignored_seconds * ignored;
    cost.registration = events.function_seconds;
    cost.ignored_callback = events.ignored_seconds;
    cost.quick_event = events.quick_seconds;
    cost.quick_callback = events.callback_ticks;
    cost.per_tick = events.seconds_per_tick;
  } else {
    cost.registrations = count;
    cost.callbacks = ignored;
  }
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
