// The names of spools, HOST-PID-START-N: the N-th spool of process PID, which started at time START
// (in ticks of its system). Hosts that share a run are told apart by HOST. Any thread; throws
// nothing but std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace timeloom {

// HOST for a host of that name, whole, since node.a and node.b are two hosts: letters and digits
// stay, a dot becomes two underscores, any other character one.
std::string host_word(std::string_view host);
// HOST for this host.
std::string host_in_spool_names();

// "HOST-PID-START-" of a process of this host.
std::string spool_name_of(std::uint64_t process);
// Whether the spool of that name was made by a process of this host that has ended.
bool maker_is_gone(const std::string& spool);

}  // namespace timeloom
