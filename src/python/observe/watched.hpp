// Functions of Python's library whose calls mean more to us than a visit: that a
// thread is started, that a task is made.
//
// Such a code object takes the instrumenters' slow path on every call, so that
// the others pay nothing for it. Needs the GIL.
#pragma once

#include <string>
#include <string_view>

#include "core/event_word.hpp"
#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

// Called when a call begins, after its enter has been recorded (not at all when
// a filter excludes the function). May not run Python code.
using WatchCall = void (*)(InterpreterFrame* frame, bool recorded) noexcept;

// From now on code objects of this name (module and qualified name) are watched
// when they are seen for the first time.
void watch_function(std::string_view name, WatchCall call);
// Code objects that are seen for the first time from now on are not.
void unwatch_function(std::string_view name) noexcept;

// Notes the code object when its name is watched; false when it is not. `word`:
// what it would be kept with otherwise.
bool watch(PyCodeObject* code, const std::string& name, EventWord word);

// Records the enter of a watched code object and tells its watcher.
void enter_watched(PyCodeObject* code, InterpreterFrame* frame) noexcept;

}  // namespace timeloom::python
