// This process and others, as the operating system describes them. Any thread; functions throw
// nothing but std::bad_alloc.
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
// The parent's command line first.
std::vector<std::vector<std::string>> command_lines_of_ancestors();
// Whether all other threads of this process have ended; the main thread counts as ended once it
// has called pthread_exit(). Allocates nothing.
bool is_last_thread() noexcept;

// User and system time in nanoseconds, of all threads of this process and of the calling thread.
std::uint64_t process_cpu_ns() noexcept;
std::uint64_t thread_cpu_ns() noexcept;

// Identifies a process for all time and on all machines, since process ids are used again. 0: not
// known. A layout of files: plain bytes.
struct ProcessIdentity {
  std::uint64_t id = 0;
  std::uint64_t start = 0;              // ticks of the system since the machine was booted
  std::uint64_t pid_namespace = 0;      // inode of the namespace in which the id is valid
  std::array<std::uint64_t, 2> boot{};  // id of the boot
};
static_assert(sizeof(ProcessIdentity) == 40);

ProcessIdentity this_process();

// The start of a process of this machine, in ticks of the system since the boot; 0: there is no
// such process, or this user may not see it.
std::uint64_t start_of(std::uint64_t process);

// A process from which this one or another descends.
struct Ancestor {
  ProcessIdentity process;
  std::string name;                      // of its program, cut off after 15 bytes; empty: unknown
  std::vector<std::string> environment;  // NAME=VALUE, as it was started; empty: unknown
};
// The parent of a process of this machine and this pid namespace. None: it is not visible.
std::optional<Ancestor> parent_of(const ProcessIdentity& process);

enum class Found : std::uint8_t {
  kNo,  // it has ended
  kYes,
  kElsewhere,  // it is not visible: on another machine or in another container
};
Found look_for(const ProcessIdentity& process);

// Whether a process of this machine has mapped the file. None: this process may not look.
std::optional<bool> maps_file(const ProcessIdentity& process, const File& file);

}  // namespace timeloom::os
