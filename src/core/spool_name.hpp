// The names of spools, by which those of all processes of all hosts differ: HOST-PID-START-N, the
// N-th spool of the process of that number that began at that time (in ticks of its system). Any
// thread; throw what memory can.
#pragma once

#include <cstdint>
#include <string>

namespace timeloom {

// "HOST-PID-START-" of a process of this host.
std::string spool_name_of(std::uint64_t process);
// Whether the spool of that name was made by a process of this host that is there no more.
bool maker_is_gone(const std::string& spool);

}  // namespace timeloom
