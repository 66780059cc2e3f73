// Commands that go on in Python: `timeloom run` and `timeloom attach`. Main thread; throws Error.
#pragma once

#include <string>
#include <vector>

#include "tools/start/find_python.hpp"

namespace timeloom::tools {

// The directory of the package timeloom in a Python, which is started with these flags to find it.
// Throws Error if the package is missing there. Empty: the Python does not answer; when started
// again for the program, it prints the reason itself.
std::string ask_for_package(const std::string& python, std::vector<std::string> flags);

// Replaces this process by a program, given by its path and its arguments.
[[noreturn]] void become(std::vector<std::string> words);

}  // namespace timeloom::tools
