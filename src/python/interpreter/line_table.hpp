// The table of the source lines of a code object, as CPython 3.11 and later have it
// (Objects/locations.md). For handlers of signals: nothing is allocated, no lock is taken. Any
// thread; throws nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace timeloom::python {

// The line of an instruction, by its number, in the table of a code object that starts with
// `line`. 0: it has none, or comes after 16,384 entries.
inline std::uint32_t line_of_instruction(std::span<const unsigned char> table, std::uint32_t line,
                                         std::size_t instruction) noexcept {
  constexpr int kMostEntries = 16'384;  // bounds the time in a handler
  constexpr unsigned kOneLine = 10, kNoColumns = 13, kLong = 14, kNone = 15;
  std::size_t at = 0, end = 0;
  for (int entries = 0; at < table.size() && entries < kMostEntries; ++entries) {
    const unsigned first = table[at++], kind = first >> 3 & 15;
    end += (first & 7) + 1;
    if (kind == kNoColumns || kind == kLong) {
      std::uint32_t value = 0;
      unsigned shift = 0;
      for (bool more = true; more && at < table.size() && shift < 32; shift += 6) {
        const unsigned part = table[at++];
        value |= (part & 63) << shift;
        more = (part & 64) != 0;
      }
      line += (value & 1) != 0 ? -(value >> 1) : value >> 1;
    } else if (kind >= kOneLine && kind < kNoColumns) {
      line += kind - kOneLine;
    }
    if (instruction < end) return kind == kNone ? 0 : line;
    while (at < table.size() && (table[at] & 128) == 0) ++at;  // columns
  }
  return 0;
}

}  // namespace timeloom::python
