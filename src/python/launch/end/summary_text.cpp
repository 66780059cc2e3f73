#include "python/launch/end/summary_text.hpp"

#include <algorithm>
#include <cerrno>

#include "core/text/count_text.hpp"
#include "core/text/number_text.hpp"
#include "core/throttled.hpp"
#include "core/unmeasured.hpp"
#include "python/interpreter/print_line.hpp"
#include "run/spools.hpp"

namespace timeloom::python {
namespace {

// The start and the end of the program, which weaving adds and reports count.
constexpr std::uint64_t kOfProgram = 2;

std::string could_not_be_recorded(const SessionResult& result) {
  return line_start() + plural(result.lost_events, "event") + " could not be recorded [TL003]\n";
}

// Empty: it could not be calibrated.
std::string overhead(const SessionResult& result) {
  const Shares& shares = result.overhead;
  if (shares.cpu == 0) return {};
  std::string text = ", estimated overhead " + fixed_text(100 * shares.cpu, 1) +
                     " % of CPU time (" + fixed_text(100 * shares.cpu_error_range.least, 1) +
                     " to " + fixed_text(100 * shares.cpu_error_range.most, 1) + " %), " +
                     fixed_text(100 * shares.wall, 1) + " % of wall time";
  if (result.unknown_costs == 1) text += ", without a process that did not record it";
  if (result.unknown_costs > 1)
    text += ", without " + grouped(result.unknown_costs) + " processes that did not record it";
  return text;
}

}  // namespace

std::string others_in(const std::string& run, bool ranks) {
  const std::uint64_t spools = run::count_spools(run);
  if (spools < 2) return {};
  return ", beside " + plural(spools - 1, ranks ? "other process" : "child process");
}

std::string unmeasured(const std::string& run) {
  const Unmeasured counts = run::unmeasured_in(run);
  std::string text;
  if (counts.processes > 0) {
    text += line_start() + plural(counts.processes, "Python process") +
            " not measured: --follow all [TL001]\n";
  }
  if (counts.interpreters > 0)
    text +=
        line_start() + plural(counts.interpreters, "sub-interpreter") + " not recorded [TL002]\n";
  if (counts.workers > 0) text += line_start() + left_out_workers_text(counts.workers) + "\n";
  return text;
}

std::string throttled(const SessionResult& result, const std::optional<WeaveResult>& woven) {
  if (woven && !woven->throttled.empty()) {
    return line_start() + woven->throttled +
           (woven->throttled.starts_with("functions") ? " [TL009]\n" : " [TL008]\n");
  }
  if (result.observed_share) return line_start() + seen_text(result.observed_share) + " [TL009]\n";
  if (result.throttled == 0) return {};
  return line_start() + plural(result.throttled, "function") + " not timed to the end [TL008]\n";
}

std::string count_all_processes(SessionResult& result, const WovenCounts& all) {
  result.events = all.events - std::min<std::uint64_t>(all.events, result.profile ? 0 : kOfProgram);
  result.threads = all.threads;
  result.tasks = all.tasks;
  result.bytes = all.bytes;
  result.lost_events = all.lost_events;
  result.dropped_events = all.older_events;
  result.aggregated_events = all.aggregated_events;
  constexpr double kMillionth = 1e-6;
  result.overhead = {static_cast<double>(all.cpu_overhead) * kMillionth,
                     static_cast<double>(all.wall_overhead) * kMillionth,
                     {static_cast<double>(all.least_cpu_overhead) * kMillionth,
                      static_cast<double>(all.most_cpu_overhead) * kMillionth}};
  result.unknown_costs = all.unknown_costs;
  std::string text = " in " + grouped(all.processes) + " processes";
  if (all.running > 0) text += ", " + grouped(all.running) + " of which had not ended";
  return text;
}

std::string losses(const SessionResult& result) {
  std::string text;
  if (!result.window.empty()) {
    text += line_start() + "recorded was only " + result.window + ": " +
            (result.windows == 0 ? "that never came" : plural(result.windows, "time")) +
            " [TL011]\n";
  }
  if (!result.profile && result.aggregated_events > 0) {
    text += line_start() + "from the size limit (--max-size) on " +
            plural(result.aggregated_events, "event") + " are in the profile only [TL007]\n";
    if (result.lost_events > 0) text += could_not_be_recorded(result);
  } else if (result.at_limit) {
    text += line_start() + "recording ended at the size limit (--max-size): " +
            plural(result.lost_events, "event") + " not recorded [TL005]\n";
  } else if (result.lost_events > 0) {
    text += could_not_be_recorded(result);
  }
  if (result.dropped_events > 0) {
    text += line_start() + "the newest events are kept, " +
            plural(result.dropped_events, "older event") +
            " dropped at the size limit (--max-size) [TL006]\n";
  }
  if (result.left_out_events > 0) {
    text += line_start() + plural(result.left_out_events, "event") +
            " of objects that are not code objects left out [TL004]\n";
  }
  return text;
}

std::string summary(const SessionResult& result, const SummaryParts& parts) {
  const std::uint64_t events = result.events + (result.profile ? 0 : kOfProgram);
  const std::string tasks = result.tasks > 0 ? " and " + plural(result.tasks, "task") : "";
  std::string text = line_start() + fixed_text(result.wall_seconds, 3) + " s, " +
                     plural(events, "event") + " of " + plural(result.threads, "thread") + tasks +
                     parts.others + ", " + size_text(result.bytes) + overhead(result) + "\n" +
                     losses(result) + parts.left_out;
  if (!parts.weaving.empty()) text += line_start() + parts.weaving + "\n";
  if (result.error == ENOENT) return text;
  if (!parts.finding.empty()) text += line_start() + "finding: " + parts.finding + "\n";
  return text + line_start() + "next: timeloom report " + parts.run + "\n";
}

}  // namespace timeloom::python
