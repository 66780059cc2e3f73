// Runs a program in a child process as if it had been started directly: signals reach it, and its
// status is passed on.
#pragma once

#include <string>
#include <vector>

namespace timeloom::tools {

// From now on a file that cannot grow because of `ulimit -f` is an error like others, and does not
// end this process by SIGXFSZ. A program that run_to_its_end() starts finds the signal as this
// process did; Python ignores it itself. Main thread, before others start.
void survive_file_limit() noexcept;

// Starts the program with these words, of which the first is its name, and waits for its end.
// Meanwhile it gets the signals that are meant for it. Returns its status as a shell does: 128 and
// the number of the signal that has ended it. Throws Error where it cannot be started. Main thread;
// one program at a time.
int run_to_its_end(const std::string& program, const std::vector<std::string>& words);

}  // namespace timeloom::tools
