// The regions that are open in a sequence of calls, and the tokens by which their leaves find them.
//
// Plain values; a stack and a track belong to the thread whose recorder uses them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/event_word.hpp"

namespace timeloom::record {

// Identifies an open region, so that its leave finds it: the address of a code object, or
// user_token() of a region. Never zero; bit 0 is reserved.
using Token = std::uintptr_t;

constexpr Token user_token(EventWord enter) noexcept {
  return (static_cast<Token>(payload_of(enter)) << 2) | 2;
}

// The token of a function of compiled code (native/compiled_code.hpp). It is like a user region,
// since Python knows nothing of its calls, but calls that a function hides are hidden.
inline constexpr Token kOfCompiledCode = Token{1} << 42;
constexpr Token code_token(EventWord enter) noexcept { return user_token(enter) | kOfCompiledCode; }

// A region that is open on this thread.
struct OpenRegion {
  Token token;
  EventWord enter;  // its enter word, without a time
  // Of compiled code: the stack pointer of the function that was entered; nullptr: not known. Other
  // entries may have any value here.
  const void* frame = nullptr;
};

// Bit 0 of a token marks a region that was entered without being recorded, because
// recording was off or there was no room; its leave is not recorded either.
inline constexpr Token kUnrecorded = 1;
// In the place of its enter word: the functions that it calls are not recorded, either.
inline constexpr EventWord kHidesCalls = ~EventWord{0};
// Token of a region that ended while recording was off.
inline constexpr Token kEndedUnseen = 4;

constexpr bool is_user_region(Token token) noexcept { return (token & 2) != 0; }
constexpr bool is_of_compiled_code(Token token) noexcept {
  return is_user_region(token) && (token & kOfCompiledCode) != 0;
}
constexpr bool is_function(Token token) noexcept {
  return !is_user_region(token) && (token & ~kUnrecorded) != kEndedUnseen;
}
// Whether the trace has the enter of this region.
constexpr bool is_recorded_entry(const OpenRegion& open) noexcept {
  return (open.token & kUnrecorded) == 0 && open.enter != kHidesCalls && open.token != kEndedUnseen;
}
// Bit 2 of the token of a function, whose address is a multiple of eight: a call of the
// leave callback has been requested, see request_leave_callback().
inline constexpr Token kLeaveRequested = 4;
// The token as it was when the region was entered.
constexpr Token bare_token(Token token) noexcept {
  return token & ~(is_user_region(token) ? kUnrecorded : kUnrecorded | kLeaveRequested);
}

// The regions that are open in one sequence of calls, and room for more.
struct OpenStack {
  OpenRegion bottom{};  // token 0 matches nothing, so leave_last() needs no other check
  OpenRegion* base = &bottom;
  OpenRegion* top = &bottom;  // last entry in use; kept by the recorder while it uses the stack
  std::size_t size = 0;
  std::uint64_t said_in = 0;  // the segment, from 1 on, that lists the open regions; 0: none

  OpenStack() noexcept = default;
  OpenStack(const OpenStack&) = delete;
  OpenStack& operator=(const OpenStack&) = delete;
  ~OpenStack();
};

// A track: a sequence of calls that shares a thread with others, such as a task or a greenlet.
// It is a location of its own; its events lie in the stream of the thread, between records
// that name the track.
class Track {
 public:
  // `numbered`: it is known who has created it.
  explicit Track(std::uint32_t location, bool numbered = false) noexcept
      : location_(location), numbered_(numbered) {}
  std::uint32_t location() const noexcept { return location_; }

 private:
  friend class ThreadRecorder;
  OpenStack open_;
  std::uint32_t location_;
  bool numbered_;
};

}  // namespace timeloom::record
