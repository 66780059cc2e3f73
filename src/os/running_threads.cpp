#include "os/running_threads.hpp"

#include <time.h>

#include <charconv>

#include "os/directory.hpp"
#include "os/read_file.hpp"

namespace timeloom::os {

std::vector<std::uint64_t> running_threads() {
  std::vector<std::uint64_t> ids;
  int error = 0;
  const Directory tasks = Directory::open("/proc/self/task", &error);
  if (!tasks.is_open()) return ids;
  for (const std::string& name : tasks.names(&error)) {
    std::uint64_t id = 0;
    const char* const end = name.data() + name.size();
    if (std::from_chars(name.data(), end, id).ptr == end) ids.push_back(id);
  }
  return ids;
}

// Linux makes the number of a thread's clock from its id: three bits for the kind of clock, the
// complement of the id above them. pthread_getcpuclockid() does the same, for threads of the
// library that nobody has joined.
clockid_t cpu_clock_of_thread(std::uint64_t thread) noexcept {
  constexpr std::uint64_t kTimeOfOneThread = 6;
  return static_cast<clockid_t>((~thread << 3) | kTimeOfOneThread);
}

std::optional<std::uint64_t> cpu_ns_of_thread(std::uint64_t thread) noexcept {
  timespec time{};
  if (::clock_gettime(cpu_clock_of_thread(thread), &time) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::string name_of_thread(std::uint64_t thread) {
  std::string name = read_file("/proc/self/task/" + std::to_string(thread) + "/comm");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

}  // namespace timeloom::os
