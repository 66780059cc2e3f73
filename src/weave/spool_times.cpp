// The times of a SpoolSource: the clocks of its processes, the lifetime of each process, and of the
// run.
#include <algorithm>

#include "weave/host_clocks.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {

// All processes of a host read the same counter, so one line serves them all. A child that was
// killed at once has compared its clocks only once.
void SpoolSource::set_process_clocks(const Look* look) {
  if (in_ticks_) {
    for (Process& process : processes_) {
      process.clock = ProcessClock{os::ClockSource::kMonotonic, {}};  // keeps ticks as they are
      set_lifetime(process, look);
    }
    return;
  }
  HostClocks hosts;
  HostOffsets offsets;
  std::string first_rank, root;
  for (const Process& process : processes_) {
    const spool::ProcessDefinitions& from = process.reader->definitions();
    auto& syncs = hosts[{from.process.hostname, from.clock_source}];
    syncs.insert(syncs.end(), from.clock_syncs.begin(), from.clock_syncs.end());
    if (process.rank == 0u && process.spawn == 0) first_rank = from.process.hostname;
    if (process.parent.empty()) root = from.process.hostname;
    auto& of_host = offsets[from.process.hostname];
    of_host.insert(of_host.end(), from.clock_offsets.begin(), from.clock_offsets.end());
  }
  for (auto& [host, of_host] : offsets) {
    std::ranges::stable_sort(of_host, {}, &ClockOffset::monotonic_ns);
  }
  for (auto& [host, syncs] : hosts) {
    std::stable_sort(
        syncs.begin(), syncs.end(),
        [](const os::ClockSync& a, const os::ClockSync& b) { return a.ticks < b.ticks; });
  }
  // Workers of engines were compared with the host of the program.
  put_hosts_in_time(hosts, offsets, first_rank.empty() ? root : first_rank);
  for (Process& process : processes_) {
    const spool::ProcessDefinitions& from = process.reader->definitions();
    process.clock =
        ProcessClock{from.clock_source, hosts[{from.process.hostname, from.clock_source}],
                     offsets[from.process.hostname]};
    set_lifetime(process, look);
  }
}

// The last time in the records of a GPU, which count up to two seconds after `known`: a process
// that is recorded compares its clocks each second. A later time is not one of this process.
std::uint64_t SpoolSource::last_of_gpu(const Process& process, std::uint64_t known) {
  constexpr std::uint64_t kMostNs = 2'000'000'000;
  std::uint64_t last = known;
  for (const spool::GpuRecord& record : process.gpu_data.records) {
    const std::uint64_t then = record.last_ticks();
    if (then > last && process.clock.duration(then - known) <= kMostNs) last = then;
  }
  return last;
}

// In an undamaged spool, the range from the first comparison of clocks to the last. Where
// comparisons were lost, events lie before and markers beyond them. A process that is looked at
// while it runs lasts until now, if its counter is this one.
void SpoolSource::set_lifetime(Process& process, const Look* look) {
  const spool::ProcessDefinitions& from = process.reader->definitions();
  std::vector<std::uint64_t> known;
  for (const os::ClockSync& sync : from.clock_syncs) known.push_back(sync.ticks);
  for (const auto& mark : from.markers) known.push_back(mark.ticks);
  if (const auto first = process.reader->first_ticks()) known.push_back(*first);
  for (const spool::ProfileData& data : process.profiles.profiles) {
    known.insert(known.end(), {data.first, data.last});
    for (const spool::ProfileNode& place : data.places) {
      if (place.kind <= spool::PlaceKind::kContinued) {
        known.push_back(std::max(data.first, place.entered));
      }
    }
  }
  // Without a start of its own, the process has no clock to compare these with.
  if (!known.empty()) known.push_back(last_of_gpu(process, *std::ranges::max_element(known)));
  const std::uint64_t held = process.memory_last;
  if (!known.empty() && held != 0) known.push_back(held);
  if (known.empty()) return;
  if (look != nullptr && process.running && from.process.hostname == look->host &&
      from.clock_source == os::clock_source()) {
    known.push_back(look->now);
  }
  const auto [first, last] = std::minmax_element(known.begin(), known.end());
  process.timed = true;
  process.first_ticks = *first;
  process.last_ticks = *last;
  process.begin = process.clock.to_time(*first);
  process.end = process.clock.to_time(*last);
}

// The run lasts as long as all its processes together. A process that was killed too early to have
// a time gets the start of the run.
void SpoolSource::set_clock() {
  ClockProperties& clock = definitions_.clock;
  clock.begin = UINT64_MAX;
  std::uint64_t end = 0;
  for (Process& process : processes_) {
    if (!process.timed) continue;
    clock.begin = std::min(clock.begin, ticks(process.begin));
    end = std::max(end, ticks(process.end));
  }
  if (clock.begin == UINT64_MAX) clock.begin = 0;
  clock.length = end - std::min(end, clock.begin);
  for (Process& process : processes_) {
    if (!process.timed) process.begin = process.end = Timestamp{clock.begin};
    const auto& syncs = process.reader->definitions().clock_syncs;
    if (clock.realtime || syncs.empty()) continue;
    const std::uint64_t since = ticks(process.clock.to_time(syncs.front().ticks)) - clock.begin;
    clock.realtime = syncs.front().realtime_ns - std::min(since, syncs.front().realtime_ns);
  }
}

}  // namespace timeloom::weave
