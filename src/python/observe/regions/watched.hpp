// Functions whose calls cause more than a visit of a region: functions of Python's library that
// start a thread or make a task, functions whose region depends on their arguments, and functions
// that are left out with all that they call.
//
// Such a code object takes the instrumenters' slow path on every call, so that
// the others pay nothing for it. Needs the GIL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/definitions.hpp"
#include "core/event_word.hpp"
#include "python/interpreter/compat_frame.hpp"

namespace timeloom::python {

// Called when a call begins, after its enter, if that is `recorded` (a filter may exclude the
// function). Python code that it runs is not recorded (Unobserved), and its exceptions end there.
using WatchCall = void (*)(InterpreterFrame* frame, bool recorded) noexcept;

// From now on code objects of this name (module and qualified name, or what the style of the
// regions makes of them) are watched when they are seen for the first time.
void watch_function(std::string_view name, WatchCall call);
// Code objects of this name that are seen for the first time from now on are not watched.
void unwatch_function(std::string_view name) noexcept;

// The region that a call of a code object enters.
enum class Entering : std::uint8_t {
  kWord,       // its word, if that is the word of a region
  kArguments,  // a region for each text of its arguments
  kNothing,    // nor do the functions that it calls
};

// Notes the code object if its name is watched, or if its calls do more than enter `word`, the word
// that it would have otherwise. False: there is nothing to note. `region`: as it is before its
// label is made.
bool watch(PyCodeObject* code, const std::string& name, EventWord word,
           Entering entering = Entering::kWord, const Region& region = {});

// The word by which a call that is under way is entered late: `known` or, if that marks the
// code object as watched, the word that its calls enter (without their arguments;
// record::kHidesCalls: nothing, nor what they call). No watcher is told. Runs no Python code.
EventWord word_of_open_call(PyCodeObject* code, EventWord known) noexcept;

// Records the enter of a watched code object and tells its watcher, if it has one.
void enter_watched(PyCodeObject* code, InterpreterFrame* frame) noexcept;

}  // namespace timeloom::python
