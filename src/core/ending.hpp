// The ending of a process, as one word that a signal handler can store. Plain values and pure
// functions, for any thread; nothing throws.
#pragma once

#include <cstdint>

namespace timeloom {

// The cause of the end, if the process did not end by reaching the end of the program.
enum class EndingKind : std::uint32_t {
  kNone = 0,
  kExit = 1,
  kSignal = 2,
  kExec = 3,
  kRestricted = 4,  // it had forbidden itself system calls
  // Ended by functions of C that do not notify the measurement.
  kCExit = 5,      // _exit(), _Exit()
  kQuickExit = 6,  // quick_exit()
  kMpiAbort = 7    // MPI_Abort()
};
struct Ending {
  EndingKind kind = EndingKind::kNone;
  // kExit, kCExit, kQuickExit: exit status; kSignal: its number; kMpiAbort: the code it was given
  std::uint32_t value = 0;
};
constexpr std::uint64_t to_word(Ending ending) noexcept {
  return static_cast<std::uint64_t>(ending.kind) << 32 | ending.value;
}
constexpr Ending to_ending(std::uint64_t word) noexcept {
  return {static_cast<EndingKind>(word >> 32), static_cast<std::uint32_t>(word)};
}

}  // namespace timeloom
