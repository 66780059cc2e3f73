// Finds out whether the process that records into a spool is still alive.
//
// The process holds a lock on the file `defs` of its spool. A daemon that closes all its
// descriptors loses the lock and goes on recording. So the spool also has a file `life`, which
// identifies the process, and which the process removes when its measurement ends.
//
//     offset  0  magic            "\x01TLLIFE1"
//             8  process id, start time (field 22 of /proc/PID/stat), inode of the pid namespace
//            32  boot id          16 bytes
//            48  checksum() of the bytes before, 4 bytes
//
// docs/formats/spool.md describes the same for readers in other languages. Any thread may call
// these functions; they throw nothing but std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/known_directory.hpp"
#include "os/file.hpp"

namespace timeloom {

// Files of a spool that are looked at.
inline constexpr char kDefsName[] = "defs";
inline constexpr char kRingName[] = "ring";  // mapped by the process as long as it records
inline constexpr char kLifeName[] = "life";

enum class Alive : std::uint8_t {
  kNo,
  kYes,
  kUnknown,  // the process is on another machine or in another container
};

// Writes `life` of the calling process into the spool, or into the directory of a rank; `made`, if
// given, gets the open file. Returns an errno value; 0: success.
int write_life(const KnownDirectory& spool, os::File* made = nullptr);

// Opens a file of a spool for reading, or gives an errno value.
using OpenPart = std::function<os::File(const std::string& name, int* error)>;

// Whether the process that records into the spool is alive, even if it is idle just now. Links
// inside the spool are not followed.
Alive alive(const OpenPart& open);
Alive alive(const std::string& spool);

// Whether `life` names a process of this machine that has ended, even one that ended too early for
// alive() to tell. False if that is not certain.
bool is_gone(const OpenPart& open);

}  // namespace timeloom
