// The types behind timeloom.region(): the region itself, a function that is one
// (made by the decorator), and an awaitable whose every step is one. Needs the GIL.
#pragma once

#include "core/event_word.hpp"
#include "python/compat.hpp"

namespace timeloom::python {

// The enter word of the user region `name` (a str), defined with the place of
// the calling Python code when it is new. 0 when there is no memory.
EventWord user_region_word(PyObject* name) noexcept;

// Records enter and leave of a user region now; without a measurement nothing.
void enter_user_region(EventWord word) noexcept;
void leave_user_region(EventWord word) noexcept;
// The same for a region that the running function, if any, has entered itself:
// does not end what the caller of a generator opened under the same name.
void leave_own_user_region(EventWord word) noexcept;

// Adds the types to the module; -1 on failure.
int add_region_types(PyObject* module);
int add_decorator_types(PyObject* module);  // region_function.cpp

}  // namespace timeloom::python
