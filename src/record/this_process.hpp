// The place of this process in a run: its spool, and the group of its threads. Any thread;
// nothing throws but std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions.hpp"
#include "core/text/recorded_arguments.hpp"

namespace timeloom::record {

// The directory of a new spool of this process below `spools`. Its name, HOST-PID-START-N, belongs
// to no other process (core/spool_name.hpp); N counts the measurements of this one.
std::string free_spool(const std::string& spools);

// Whether the spool is where it was made. Where it is not, the run was woven, removed or renamed,
// and another run may have its name. A spool that this process may not look at is there.
bool has_spool(const std::string& spool) noexcept;

// The name of the spool of the process that started this one; empty: it does not record.
std::string parent_spool(const std::string& spools);

// Named and described by what the system knows of it, with those arguments.
LocationGroup this_process(RecordArguments which);

// The properties of the run about OpenMP (core/teams/openmp_properties.hpp); `thread`: the setting
// of this name. Empty: OpenMP is not recorded.
std::map<std::string, std::string> openmp_properties(std::string_view thread);

// The secrets in its command line, or in the command line of a process that it descends from, which
// are not to be recorded wherever the program repeats them.
std::vector<std::string> known_secrets(RecordArguments which);
// For the forked children of this process: they know its ancestors, though these may have ended by
// then. One thread, before it forks.
void remember_ancestors_for_children();

// Bytes of this process that lie in memory, and how many did at most; 0: not known.
struct ResidentMemory {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;
};
ResidentMemory resident_memory() noexcept;

// "SIGTERM"; for a signal handler, too.
std::string signal_name(int signal);

}  // namespace timeloom::record
