// The functions written in C that the code of a sub-interpreter calls. Each interpreter keeps its
// own decisions about them: all interpreters share the definitions of these functions, so the GIL
// of one does not guard data that is kept by definition. Needs an attached thread state of the
// interpreter. Throws nothing.
#pragma once

#include "python/observe/interpreters/sub_state.hpp"

namespace timeloom::python {

// `arguments`: of a CALL event, about a code object.
void enter_c_in_sub_interpreter(SubInterpreter& sub, PyObject* const* arguments) noexcept;
// `arguments`: of a C_RETURN or C_RAISE event, about a code object.
void leave_c_in_sub_interpreter(SubInterpreter& sub, PyObject* const* arguments) noexcept;
// Called when the module is freed.
void forget_c_functions(SubInterpreter& sub) noexcept;

}  // namespace timeloom::python
