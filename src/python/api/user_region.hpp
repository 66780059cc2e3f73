// The types behind timeloom.region(): the region itself, a function that is one
// (made by the decorator), and an awaitable whose every step is one. Needs the GIL.
#pragma once

#include <cstdint>
#include <string>

#include "core/event_word.hpp"
#include "python/interpreter/compat.hpp"
#include "python/observe/regions/code_regions.hpp"

namespace timeloom::python {

// The place of a user region in the source.
struct SourcePlace {
  std::string file;
  std::uint32_t first_line = 0;
  std::uint32_t last_line = 0;
};
// The place of a Python function, or of the function that it wraps; for anything else and
// nullptr the place of the calling Python code outside of our packages.
SourcePlace place_of(PyObject* function);

// The word of the user region `name` (a str), by the rules in force: its enter word,
// or one of another kind when the rules leave it out. One that is new in this measurement
// is at the place, or that of the calling code. 0 when there is no memory.
EventWord user_region_word(PyObject* name, const SourcePlace* place = nullptr) noexcept;
// Whether user_region_word() has been asked for it in this measurement.
bool knows_user_region(PyObject* name) noexcept;
// The word of a decorator's region: a str names a user region; a Python function is the region
// by which the instrumenter knows it, 0 when it is not recorded.
EventWord decorated_word(PyObject* region, PyObject* function) noexcept;

// The same with the result kept, for objects that use a region again and again. Any thread.
class UserRegionWord {
 public:
  // `function`: what is decorated with the region, if anything is.
  EventWord of(PyObject* region, PyObject* function = nullptr) noexcept {
    // Rules are few: their index does not reach the number of the measurement.
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
  std::uint64_t decided_ = 0;  // the measurement and the rules that have decided; 0: none
};

// Whether a region can decorate the object; a classmethod object cannot be called itself.
bool is_decorable(PyObject* object) noexcept;
// Makes a function, coroutine function or generator function a region. `name`: a str,
// or None; with `itself` the region is the function's own. Null with an exception set.
PyObject* decorate(PyObject* name, PyObject* function, bool itself = false);
// The function that a region is called with as a decorator, borrowed; null with an exception set.
PyObject* decorated_by(PyObject* arguments, PyObject* keywords) noexcept;

// Whether parameters and counters of the current region are left out with it: by a filter, or
// because it lies deeper than the recorded depth.
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
int add_unrecorded_type(PyObject* module);  // unrecorded.cpp
int add_hidden_type(PyObject* module);      // hidden.cpp

}  // namespace timeloom::python
