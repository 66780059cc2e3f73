// The heartbeat of a process that records: by it other machines, which do not see the process, know
// that it lives. It is the time of the last change of the file `life` of the spool; that the
// process has a heart is said by four more bytes in the file, "beat". Machines whose clocks differ
// by more than the longest silence misjudge each other. Any thread may call these functions.
#pragma once

#include <chrono>
#include <ctime>

#include "os/file.hpp"

namespace timeloom {

inline constexpr std::chrono::seconds kBeatPeriod{10};
// After that many seconds a process is taken for dead.
inline constexpr std::time_t kLongestSilence = 60;

// `life`: the file that write_life() has made. A thread that beats allocates nothing, which would
// take address space. Failures are ignored: nobody can tell then whether the process lives.
void begin_to_beat(os::File& life) noexcept;
void beat(os::File& life) noexcept;

}  // namespace timeloom
