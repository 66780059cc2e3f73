// Numbers in records and events of input and output. They equal the numbers of OTF2, since they go
// from the recorder to the trace unchanged; src/formats/otf2 checks that. Pure functions, for any
// thread; nothing throws.
#pragma once

#include <cstdint>

namespace timeloom {

enum class IoAccess : std::uint8_t { kReadOnly = 0, kWriteOnly = 1, kReadWrite = 2 };
enum class IoOperation : std::uint8_t { kRead = 0, kWrite = 1, kFlush = 2 };
enum class IoWhence : std::uint8_t { kStart = 0, kCurrent = 1, kEnd = 2, kData = 3, kHole = 4 };

// Bits.
enum class IoCreation : std::uint32_t {
  kCreate = 1 << 0,
  kTruncate = 1 << 1,
  kDirectory = 1 << 2,
  kExclusive = 1 << 3,
  kNoControllingTerminal = 1 << 4,
  kNoFollow = 1 << 5,
  kPath = 1 << 6,
  kTemporary = 1 << 7
};
enum class IoStatus : std::uint32_t {
  kCloseOnExec = 1 << 0,
  kAppend = 1 << 1,
  kNonBlocking = 1 << 2,
  kAsync = 1 << 3,
  kSync = 1 << 4,
  kDataSync = 1 << 5,
  kAvoidCaching = 1 << 6,
  kNoAccessTime = 1 << 7
};

// The bytes of an operation that transfers none, such as fsync.
inline constexpr std::uint64_t kNoBytes = UINT64_MAX;

// A handle and a small number in one word of a record.
constexpr std::uint64_t io_word(std::uint32_t handle, std::uint32_t number) noexcept {
  return handle | std::uint64_t{number} << 32;
}
constexpr std::uint32_t io_handle_of(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word);
}
constexpr std::uint32_t io_number_of(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 32);
}

// How a file is opened: access in the upper 8 bits, then 24 of status and 32 of creation flags.
constexpr std::uint64_t io_modes(IoAccess access, std::uint32_t creation,
                                 std::uint32_t status) noexcept {
  return static_cast<std::uint64_t>(access) << 56 | std::uint64_t{status & 0xffffff} << 32 |
         creation;
}
constexpr std::uint32_t io_access_of(std::uint64_t modes) noexcept {
  return static_cast<std::uint32_t>(modes >> 56);
}
constexpr std::uint32_t io_status_of(std::uint64_t modes) noexcept {
  return static_cast<std::uint32_t>(modes >> 32) & 0xffffff;
}
constexpr std::uint32_t io_creation_of(std::uint64_t modes) noexcept {
  return static_cast<std::uint32_t>(modes);
}

// Metrics of a call path: the bytes that its calls have transferred.
inline constexpr char kIoBytesRead[] = "io_bytes_read";
inline constexpr char kIoBytesWritten[] = "io_bytes_written";

}  // namespace timeloom
