// Commands that go on in Python: `timeloom run` and `timeloom attach`. Main thread; throws Error.
#pragma once

#include <string>
#include <vector>

#include "tools/find_python.hpp"

namespace timeloom::tools {

// A Python that is not known to have Timeloom is asked, with these flags. Everything else that may
// be wrong with it, it says itself when it is started.
void refuse_without_timeloom(const PythonChoice& python, const std::vector<std::string>& flags);

// Replaces this process by a program, given by its path and its arguments.
[[noreturn]] void become(std::vector<std::string> words);

}  // namespace timeloom::tools
