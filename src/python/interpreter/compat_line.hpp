// The source line at which a frame of the interpreter is, for handlers of signals: nothing is
// allocated, no lock is taken, and nothing is trusted that may be in the making.
//
// Any thread, for its own frames, whose code objects are sound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

// The line of an instruction, by its number, in the table of a code object that starts with
// `line` (CPython's Objects/locations.md). 0: it has none, or comes after 16,384 entries.
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

// The number of the instruction; SIZE_MAX: it has not reached one, or is in the making.
inline std::size_t instruction_of(InterpreterFrame* frame) noexcept {
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030e0000
  // The thread's own copy of the code.
  const _PyCodeArray* const copies = _PyCode_GetTLBCArray(code_of(frame));
  if (frame->tlbc_index < 0 || frame->tlbc_index >= copies->size) return SIZE_MAX;
#endif
  const int number = _PyInterpreterFrame_LASTI(frame);
  return number >= 0 && number < Py_SIZE(code_of(frame)) ? static_cast<std::size_t>(number)
                                                         : SIZE_MAX;
}

// 0: not known.
inline std::uint32_t line_of_frame(InterpreterFrame* frame) noexcept {
  PyCodeObject* const code = code_of(frame);
  const std::size_t instruction = instruction_of(frame);
  if (instruction == SIZE_MAX) return 0;
  const auto first = static_cast<std::uint32_t>(code->co_firstlineno);
  const auto* const bytes = reinterpret_cast<unsigned char*>(PyBytes_AS_STRING(code->co_linetable));
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(code->co_linetable));
  return line_of_instruction({bytes, size}, first, instruction);
}

}  // namespace timeloom::python
