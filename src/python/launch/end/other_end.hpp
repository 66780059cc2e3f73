// Ends of the measured program that finish nothing: os._exit, os.exec*, signals. A line on stderr
// names the run, since no summary does. Main thread, with the GIL; the line may come from any.
#pragma once

#include <string>

namespace timeloom::python {

// This process prints one line when it ends in such a way: how it ends, and `next`. It prints
// nothing where descriptor 2 belongs to a file of the program by then.
void print_at_other_ends(const std::string& next);

}  // namespace timeloom::python
