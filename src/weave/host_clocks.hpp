// The clocks of the hosts of a run, put on one axis.
//
// The monotonic clock of each machine begins when that is started: all are counted from the begin
// of the one that was started first. Plain values, one thread; throws std::bad_alloc.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "os/clock.hpp"
#include "weave/process_clock.hpp"

namespace timeloom::weave {

// Comparisons of the clocks of a host, in order of time.
using HostClocks = std::map<std::pair<std::string, os::ClockSource>, std::vector<os::ClockSync>>;
// Comparisons with the host of rank 0, by the name of the host.
using HostOffsets = std::map<std::string, std::vector<ClockOffset>>;

// Moves all to the axis of one host. The clocks of hosts are compared by the time of day; those
// that were compared with the host `first_rank` of rank 0 go with it.
void put_hosts_in_time(HostClocks& hosts, HostOffsets& offsets, const std::string& first_rank);

}  // namespace timeloom::weave
