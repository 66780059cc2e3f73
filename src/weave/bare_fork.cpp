// The part of SpoolSource that leaves out bare forks: child processes that neither called a
// function of their own nor worked. Calls of Python's own fork handlers do not count.
#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/measuring_cost.hpp"
#include "core/regions/forked_region.hpp"
#include "core/run_properties.hpp"
#include "spool/fork_handlers_property.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace {

// A loop works without a call. This limit is far above the time that a child needs to reach an exec
// or an exit: 2 to 7 ms, and over 20 ms on a virtual machine whose host is busy.
constexpr double kLeastWork = 0.1;  // seconds of CPU time

// CPU time as far as it is known: for a process that became another program, up to the last reading
// of its clocks.
double cpu_seconds(const spool::Reader& reader) {
  const auto& properties = reader.definitions().properties;
  if (const auto cost = properties.find(kProcessCost); cost != properties.end()) {
    return process_cost_of(cost->second).cpu;
  }
  const spool::LastClocks clocks = reader.last_clocks(0);
  const std::uint64_t cpu = std::max(clocks.seen.cpu, clocks.at_event.cpu) - clocks.at_event.cpu;
  return static_cast<double>(cpu) * 1e-9;
}

bool ended_by_itself(EndingKind kind) {
  return kind != EndingKind::kSignal && kind != EndingKind::kMpiAbort;
}

bool is_own(const spool::ProcessDefinitions& all, std::uint32_t region) {
  const auto found = all.regions.find(region);
  return found == all.regions.end() || !is_forked(found->second);
}

bool enters_later(const spool::Reader& reader, std::uint64_t ticks) {
  spool::LocationReader stream = reader.read(0);
  for (std::vector<Event> batch; stream.next(batch);) {
    const bool own = std::ranges::any_of(batch, [&](const Event& event) {
      return event.kind == EventKind::kEnter && event.time > Timestamp{ticks} &&
             is_own(reader.definitions(), event.ref);
    });
    if (own) return true;
  }
  return false;
}

std::uint64_t visits(const spool::Profiles& profiles) {
  std::uint64_t sum = 0;
  for (const spool::ProfileData& data : profiles.profiles) {
    for (const spool::ProfileNode& place : data.places) {
      if (place.kind <= spool::PlaceKind::kContinued) sum += place.visits;
    }
  }
  return sum;
}

bool calls(const spool::Reader& reader, const spool::Profiles& profiles) {
  const spool::ProcessDefinitions& all = reader.definitions();
  if (std::ranges::all_of(all.regions, [](const auto& one) { return is_forked(one.second); })) {
    return false;
  }
  const auto handlers = all.properties.find(kForkHandlers);
  if (handlers == all.properties.end()) return true;
  const ForkHandlers end = ForkHandlers::of(handlers->second);
  return profiles.profiles.empty() ? enters_later(reader, end.ticks)
                                   : visits(profiles) > end.visits;
}

// A process that lost records, or whose records are damaged, did something, and the run has to
// report it.
bool has_losses(const spool::Reader& reader, const spool::Profiles& profiles) {
  const spool::ProcessDefinitions& all = reader.definitions();
  const auto is_damaged = [&](const spool::ProfileData& data) {
    return data.damaged || (all.ended && !data.sealed);
  };
  return all.lost_events != 0 || all.dropped_events != 0 || reader.damage().segments != 0 ||
         reader.damage().missing_segments != 0 || profiles.unreadable != 0 ||
         (all.ended && profiles.empty != 0) || std::ranges::any_of(profiles.profiles, is_damaged);
}

bool is_bare_fork(const spool::Reader& reader, const spool::Profiles& profiles) {
  const spool::ProcessDefinitions& all = reader.definitions();
  const bool forked =
      std::ranges::any_of(all.regions, [](const auto& entry) { return is_forked(entry.second); });
  const bool told = !all.markers.empty() || !all.parameters.empty() || all.threads.size() > 1;
  return forked && !told && !has_losses(reader, profiles) && ended_by_itself(all.ending.kind) &&
         cpu_seconds(reader) < kLeastWork && !calls(reader, profiles);
}

}  // namespace

// Bare forks: they became another program or ended before they called anything, as the forks of
// subprocess with preexec_fn do. Processes that they started count as started by their parents.
void SpoolSource::leave_out_forks() {
  std::map<std::string, const Process*> by_spool;
  for (const Process& process : processes_) by_spool[process.spool] = &process;
  const auto was_killed = [&](const Process& process) {
    const auto parent = by_spool.find(process.parent);
    const std::uint64_t id = process.reader->definitions().process.process_id;
    return parent != by_spool.end() && WIFSIGNALED(reaped_status(*parent->second, id).value_or(0));
  };
  const auto came_to_nothing = [&](const Process& process) {
    return !process.parent.empty() && !process.running && !process.rank &&
           is_bare_fork(*process.reader, process.profiles) && !was_killed(process);
  };
  std::map<std::string, std::string> parents;
  for (const Process& process : processes_) {
    if (came_to_nothing(process)) parents[process.spool] = process.parent;
  }
  if (parents.empty() || parents.size() == processes_.size()) return;
  std::erase_if(processes_, [&](const Process& one) { return parents.contains(one.spool); });
  for (Process& process : processes_) {
    // Damage can make processes each other's parents; such a chain has no end.
    for (std::size_t steps = 0; parents.contains(process.parent); ++steps) {
      process.parent = steps < parents.size() ? parents.at(process.parent) : std::string();
    }
  }
}

}  // namespace timeloom::weave
