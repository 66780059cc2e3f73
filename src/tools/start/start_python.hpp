// Commands that go on in Python: `timeloom run` and `timeloom attach`. Main thread; throws Error.
#pragma once

#include <string>
#include <vector>

#include "tools/start/find_python.hpp"

namespace timeloom::tools {

// The directory of the package timeloom in a Python, which is asked with these flags. Throws Error
// where it has none; empty: it cannot be asked, and says why itself when it is started.
std::string ask_for_package(const std::string& python, std::vector<std::string> flags);

// Replaces this process by a program, given by its path and its arguments.
[[noreturn]] void become(std::vector<std::string> words);

}  // namespace timeloom::tools
