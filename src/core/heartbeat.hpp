// The heartbeat of a process that records. It tells other machines, which do not see the process,
// that the process lives: every kHeartbeatPeriod the process touches the file `life` of its spool.
// Four more bytes at the end of the file, "beat", tell that it does. Machines whose clocks differ
// by more than kLongestSilence misjudge each other. Any thread may call these functions.
#pragma once

#include <chrono>
#include <ctime>

#include "os/file.hpp"

namespace timeloom {

inline constexpr std::chrono::seconds kHeartbeatPeriod{10};
// Seconds without a heartbeat after which a process is taken for dead.
inline constexpr std::time_t kLongestSilence = 60;

// `life`: the file that write_life() has made. Nothing is allocated: a heap for the thread that
// heartbeats would take address space. Failures are ignored; then nobody can tell whether the
// process lives.
void begin_heartbeats(os::File& life) noexcept;
void send_heartbeat(os::File& life) noexcept;

}  // namespace timeloom
