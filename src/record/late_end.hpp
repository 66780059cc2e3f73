// The end of the regions that a thread of a team has open, which it cannot see: it waits at the
// team's last barrier inside the runtime, and our code runs on it again in its next team.
// The thread that made the team is told by the runtime, and notes the time.
//
// A plain value of one recorder. The time is shared by the threads of the team.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "core/event_word.hpp"

namespace timeloom::record {

struct LateEnd {
  std::shared_ptr<const std::atomic<std::uint64_t>> time;  // 0: not noted yet; nullptr: no end
  std::array<EventWord, 2> regions{};                      // their enter words, the inner one first
  std::uint64_t team = 0;                                  // which the thread leaves then
};

}  // namespace timeloom::record
