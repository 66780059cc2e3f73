// `timeloom report --threads`: how many threads worked at once, and what the others waited for.
//
// Plain functions. Throw Error when the output cannot be written; print_threads() also where the
// run has no trace.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tools/report/threads/thread_times.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

void write_threads(const Parallel& parallel, const std::vector<std::string>& losses,
                   const Terminal& terminal, Output& output);
void write_threads_json(const Parallel& parallel, const std::vector<std::string>& losses,
                        Output& output);

// To standard output. `chosen`: the threads that count.
void print_threads(const std::filesystem::path& run,
                   const std::function<std::set<LocationId>(const Definitions&)>& chosen, bool json,
                   ColourMode colour);

}  // namespace timeloom::tools
