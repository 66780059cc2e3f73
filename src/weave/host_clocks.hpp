// The clocks of the hosts of a run, put on one axis.
//
// The monotonic clock of a machine starts when the machine boots. All times are counted from the
// boot of the machine that was started first. Plain values, used by one thread; throws
// std::bad_alloc.
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
// Comparisons with the host of rank 0, or of the program, by the name of the host.
using HostOffsets = std::map<std::string, std::vector<ClockOffset>>;

// Moves all clocks to the axis of one host. Hosts are compared by their time of day; hosts that
// were compared with `first_rank`, the host of rank 0 or of the program, are moved together with
// it.
void put_hosts_in_time(HostClocks& hosts, HostOffsets& offsets, const std::string& first_rank);

}  // namespace timeloom::weave
