// The types behind timeloom.region(): the region itself, a function that is one
// (made by the decorator), and an awaitable whose every step is one. Needs the GIL.
#pragma once

#include "core/event_word.hpp"
#include "python/code_regions.hpp"
#include "python/compat.hpp"

namespace timeloom::python {

// The word of the user region `name` (a str), by the rules in force: its enter word,
// defined with the place of the calling Python code when it is new; a word of
// another kind when the rules leave it out. 0 when there is no memory.
EventWord user_region_word(PyObject* name) noexcept;

// The same, kept by who uses the region again and again.
class UserRegionWord {
 public:
  EventWord of(PyObject* name) noexcept {
    if (rules_ != g_code_index) [[unlikely]] {
      word_ = user_region_word(name);
      rules_ = word_ == 0 ? -1 : g_code_index;
    }
    return word_;
  }

 private:
  EventWord word_ = 0;
  Py_ssize_t rules_ = -1;  // those that have decided
};

// Whether what the program says of the current region is lost with it: a filter
// leaves the region out, or it is deeper than what is recorded.
bool in_left_out_region() noexcept;

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
