// Lines on stderr, "timeloom: ...", in the name of the program that the user has started.
// Needs the GIL.
#pragma once

#include <string>
#include <string_view>

namespace timeloom::python {

// Writes one line, of any bytes. A failure is ignored.
void print_line(const std::string& line) noexcept;

// Sets the name that opens the lines; it is "timeloom" at first. REQUIRES: no line has been
// written yet; `name` lives as long as the process.
void set_program_name(std::string_view name) noexcept;
std::string_view program_name() noexcept;
std::string line_start();  // "timeloom: "

}  // namespace timeloom::python
