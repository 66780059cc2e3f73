// The types behind timeloom.region(): the region itself, a function that is a region (made by the
// decorator), and an awaitable whose every step is one. All functions need the GIL. Functions that
// can fail return null, 0 or -1 as noted.
#pragma once

#include <cstdint>
#include <string>

#include "core/event_word.hpp"
#include "python/interpreter/compat.hpp"
#include "python/observe/regions/code_regions.hpp"

namespace timeloom::python {

// The file and lines of a user region.
struct SourceLines {
  std::string file;
  std::uint32_t first_line = 0;
  std::uint32_t last_line = 0;
};
// The file and lines of a Python function, or of the function that it wraps. For other objects and
// nullptr: the lines of the calling Python code outside of Timeloom's packages.
SourceLines source_lines_of(PyObject* function);

// The word of the user region `name` (a str) under the current rules: its enter word, or a word of
// another kind when the rules leave it out. A region that is new in this measurement gets `lines`,
// or the lines of the calling code. 0 when there is no memory.
EventWord user_region_word(PyObject* name, const SourceLines* lines = nullptr) noexcept;
// True if user_region_word() has been called for it in this measurement.
bool knows_user_region(PyObject* name) noexcept;
// The word of a decorator's region. A str names a user region. A Python function stands for the
// instrumenter's region of it; 0 when that is not recorded.
EventWord decorated_word(PyObject* region, PyObject* function) noexcept;

// The same with the result cached, for objects that use a region repeatedly. Any thread may call
// of(), with the GIL or, on builds without one, an attached thread state.
class UserRegionWord {
 public:
  // `function`: the decorated function, if any.
  EventWord of(PyObject* region, PyObject* function = nullptr) noexcept {
    // Rules are few: their index stays below the distance between measurement numbers.
    const std::uint64_t now = ready_from() + static_cast<std::uint64_t>(code_index());
    if (__atomic_load_n(&decided_, __ATOMIC_ACQUIRE) == now) [[likely]]
      return __atomic_load_n(&word_, __ATOMIC_RELAXED);
    const EventWord word =
        function == nullptr ? user_region_word(region) : decorated_word(region, function);
    __atomic_store_n(&word_, word, __ATOMIC_RELAXED);
    __atomic_store_n(&decided_, word == 0 ? 0 : now, __ATOMIC_RELEASE);
    return word;
  }

 private:
  EventWord word_ = 0;
  std::uint64_t decided_ = 0;  // the measurement and the rules of the cached result; 0: none
};

// True if the decorated function is its own region, and the instrumentation is on and records it.
bool records_itself(PyObject* region) noexcept;
// True if a region can decorate the object; a classmethod object cannot be called itself.
bool is_decorable(PyObject* object) noexcept;
// Turns a function, coroutine function or generator function into a region. `name`: a str, or None.
// With `itself` the region is the function's own. Null with an exception set on failure.
PyObject* decorate(PyObject* name, PyObject* function, bool itself = false);
// The function passed to a region that is called as a decorator, borrowed; null with an exception
// set.
PyObject* decorated_by(PyObject* arguments, PyObject* keywords) noexcept;

// True if parameters and counters of the current region are left out with it: by a filter, or
// because it lies below the recorded depth.
bool in_left_out_region() noexcept;

// Records an enter or leave of a user region now; does nothing without a measurement.
void enter_user_region(EventWord word) noexcept;
void leave_user_region(EventWord word) noexcept;
// Leaves a region that the calling function has entered itself. If a generator calls it, a region
// of the same name that the generator's caller has opened stays open.
void leave_own_user_region(EventWord word) noexcept;

// Adds the types to the module; -1 on failure.
int add_region_types(PyObject* module);
int add_decorator_types(PyObject* module);  // region_function.cpp
int add_steps_type(PyObject* module);       // region_steps.cpp
int add_unrecorded_type(PyObject* module);  // unrecorded.cpp
int add_hidden_type(PyObject* module);      // hidden.cpp

}  // namespace timeloom::python
