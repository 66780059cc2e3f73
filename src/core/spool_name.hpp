// The names of spools, HOST-PID-START-N: the N-th spool of process PID, which started at time START
// (in ticks of its system). HOST is the first part of the host's name, up to 40 characters: hosts
// that share a run are told apart by it. Any thread; throws nothing but std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>

namespace timeloom {

// "HOST-PID-START-" of a process of this host.
std::string spool_name_of(std::uint64_t process);
// Whether the spool of that name was made by a process of this host that has ended.
bool maker_is_gone(const std::string& spool);

}  // namespace timeloom
