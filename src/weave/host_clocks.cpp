#include "weave/host_clocks.hpp"

namespace timeloom::weave {
namespace {

// The nanoseconds by which the monotonic clock of one host is behind the clock of another, as
// precisely as their clocks of the day agree. Containers of one machine share a clock, so smaller
// differences count as none.
std::int64_t clock_shift(const os::ClockSync& of, const os::ClockSync& to) {
  constexpr std::int64_t kLeast = 1'000'000;
  const std::uint64_t shift =
      (of.realtime_ns - of.monotonic_ns) - (to.realtime_ns - to.monotonic_ns);
  const auto signed_shift = static_cast<std::int64_t>(shift);
  return signed_shift > -kLeast && signed_shift < kLeast ? 0 : signed_shift;
}

}  // namespace

void put_hosts_in_time(HostClocks& hosts, HostOffsets& offsets, const std::string& first_rank) {
  std::map<std::string, os::ClockSync> first;
  for (const auto& [host, syncs] : hosts) {
    if (!syncs.empty()) first.try_emplace(host.first, syncs.front());
  }
  if (first.size() < 2) return;
  const os::ClockSync* oldest = &first.begin()->second;
  for (const auto& [host, sync] : first) {
    if (clock_shift(sync, *oldest) < 0) oldest = &sync;
  }
  const auto shift_of = [&](const std::string& host) -> std::uint64_t {
    const auto found = first.find(host);
    if (found == first.end()) return 0;
    return static_cast<std::uint64_t>(clock_shift(found->second, *oldest));
  };
  for (auto& [host, syncs] : hosts) {
    const bool compared = !offsets[host.first].empty();
    const std::uint64_t shift = shift_of(compared ? first_rank : host.first);
    for (os::ClockSync& sync : syncs) sync.monotonic_ns += shift;
  }
  for (auto& [host, of_host] : offsets) {
    for (ClockOffset& offset : of_host) offset.monotonic_ns += shift_of(first_rank);
  }
}

}  // namespace timeloom::weave
