// The heartbeat of a process that records: by it other machines, which do not see the process, know
// that it lives. It is the time of the last change of the file `life` of the spool; that the
// process has a heart is said by four more bytes in the file, "beat". Machines whose clocks differ
// by more than the longest silence misjudge each other. Any thread may call these functions.
#pragma once

#include <chrono>
#include <ctime>
#include <string>

namespace timeloom {

inline constexpr std::chrono::seconds kBeatPeriod{10};
// After that many seconds a process is taken for dead.
inline constexpr std::time_t kLongestSilence = 60;

// The path of the file; a thread that beats allocates nothing, which would take address space.
std::string life_path(const std::string& spool);
// Failures are ignored: nobody can tell then whether the process lives.
void begin_to_beat(const std::string& life) noexcept;
void beat(const std::string& life) noexcept;

}  // namespace timeloom
