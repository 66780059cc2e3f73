// The source line at which a frame of the interpreter is, for handlers of signals: nothing is
// allocated, no lock is taken, and nothing is trusted that may be in the making.
//
// Any thread, for its own frames, whose code objects are sound.
#pragma once

#include <cstddef>
#include <cstdint>

#include "python/interpreter/compat_frame.hpp"
#include "python/interpreter/line_table.hpp"

namespace timeloom::python {

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
