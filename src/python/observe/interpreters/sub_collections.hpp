// Collections of garbage in a sub-interpreter, as in the main one: the region `gc.collect`, the
// parameter `generation` and the counter `gc.collected`.
//
// Two functions of the interpreter's module lie in its gc.callbacks, at the start and at the end.
// The first stays there, without effect, when the interpreter is no longer observed: the
// interpreter may be on its way through the list, and would leave out the next one.
// Needs an attached thread state of the interpreter. Nothing throws.
#pragma once

#include "python/interpreter/compat.hpp"

namespace timeloom::python {

// `module`: timeloom._sub of the interpreter. No effect where collections are not recorded.
void watch_collections_in_sub_interpreter(PyObject* module) noexcept;
void unwatch_collections_in_sub_interpreter() noexcept;

}  // namespace timeloom::python
