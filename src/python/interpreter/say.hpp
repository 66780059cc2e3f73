// Lines on stderr, "timeloom: ...", in the name of the program that the user has started.
// Needs the GIL.
#pragma once

#include <string>
#include <string_view>

namespace timeloom::python {

// One line; what fails is passed over. Any bytes.
void say(const std::string& line) noexcept;

// Whose name opens the lines: "timeloom" until another is set, before anything is said.
// `name` lives as long as the process.
void speak_as(std::string_view name) noexcept;
std::string_view speaker() noexcept;
std::string line_start();  // "timeloom: "

}  // namespace timeloom::python
