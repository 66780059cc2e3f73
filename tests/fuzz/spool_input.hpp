// One input of a fuzzer as the three files of a spool:
//
//   u8 flags, u16 size of defs, u16 size of log, defs, log, ring
//
// The ring comes without the gap between its head of 32 bytes and its first
// segment. With flag 1 all checksums are made right, so that what lies behind
// them is reached as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace timeloom::fuzz {

// Writes the spool into a directory in memory, the same one each time, and
// returns its path.
const std::string& write_spool(std::span<const std::uint8_t> input);

// A directory beside the spool, for what a target writes.
const std::string& work_directory();

}  // namespace timeloom::fuzz
