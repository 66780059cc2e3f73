// This process and others as the system knows them. Any thread; nothing throws but
// std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/file.hpp"

namespace timeloom::os {

std::string hostname();
std::string executable();                 // its path; empty: unknown
std::vector<std::string> command_line();  // with the name that it was started by; empty: unknown
std::string thread_name();                // of the calling thread
std::uint64_t parent_process_id() noexcept;
// The nearest first.
std::vector<std::vector<std::string>> command_lines_of_ancestors();
// Whether all other threads of this process have ended, the main thread among them: it waits for
// the last one. Allocates nothing.
bool is_last_thread() noexcept;

// User and system time, in nanoseconds: of all threads of this process, of the calling thread.
std::uint64_t process_cpu_ns() noexcept;
std::uint64_t thread_cpu_ns() noexcept;

// A process among all that there ever are on all machines: ids of processes come again. 0: not
// known. Plain bytes, which lie in files.
struct ProcessIdentity {
  std::uint64_t id = 0;
  std::uint64_t start = 0;              // since the machine was started, in ticks of the system
  std::uint64_t pid_namespace = 0;      // in which the id is its own
  std::array<std::uint64_t, 2> boot{};  // of the system, since it was started
};
static_assert(sizeof(ProcessIdentity) == 40);

ProcessIdentity this_process();

// When the process of this machine was started, in ticks of the system since that was; 0: there is
// none, or nobody may know.
std::uint64_t start_of(std::uint64_t process);

// A process that others come from.
struct Ancestor {
  ProcessIdentity process;
  std::string name;                      // of its program, cut off after 15 bytes; empty: unknown
  std::vector<std::string> environment;  // NAME=VALUE, as it was started; empty: unknown
};
// The parent of a process of this machine and this namespace of ids. None: it is out of sight.
std::optional<Ancestor> parent_of(const ProcessIdentity& process);

enum class Found : std::uint8_t {
  kNo,  // it has ended
  kYes,
  kElsewhere,  // it is out of sight: on another machine or in another container
};
Found look_for(const ProcessIdentity& process);

// Whether a process of this machine has mapped the file. None: this process may not know.
std::optional<bool> maps_file(const ProcessIdentity& process, const File& file);

}  // namespace timeloom::os
