// The events of a sub-interpreter's code objects. Needs an attached thread state of the
// interpreter. Throws nothing.
#pragma once

#include "python/observe/interpreters/sub_state.hpp"
#include "python/observe/regions/code_regions.hpp"

namespace timeloom::python {

// How a function that is not recorded is to be treated.
enum class SubEvent : std::uint8_t {
  kSeen,      // as long as the interpreter lives
  kNotAgain,  // it need not be reported again from this place
};

// The enter word, if the measurement of this number has its region defined; otherwise 0. `kept`: a
// word and the number of the measurement that has defined its region, as a code object keeps both.
EventWord word_of_measurement(std::uint64_t kept, std::uint64_t number) noexcept;
// The word of a region, with the number of the measurement, in which it is defined from here on.
std::uint64_t define_for_measurement(EventWord word) noexcept;

// A call begins or resumes. The outermost one of its thread enters the interpreter's region, too.
SubEvent enter_in_sub_interpreter(SubInterpreter& sub, PyCodeObject* code) noexcept;
// It returns, yields or unwinds.
SubEvent leave_in_sub_interpreter(SubInterpreter& sub, PyCodeObject* code) noexcept;
// A generator is closed, and nobody is told of the visit.
void visit_generator(SubInterpreter& sub, PyObject* generator) noexcept;
// Enters the region of the interpreter for the calls that run now.
void enter_sub_interpreter(SubInterpreter& sub) noexcept;

}  // namespace timeloom::python
