#include "record/this_process.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>
#include <utility>

#include "core/spool_name.hpp"
#include "core/teams/openmp_properties.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "os/signal_name.hpp"
#include "os/thread.hpp"

namespace timeloom::record {
namespace {

int first_free_number(const std::string& path) {
  int number = 0;
  while (::access((path + std::to_string(number)).c_str(), F_OK) == 0) ++number;
  return number;
}

using Words = std::vector<std::string>;

// Read once: a forked child has the command line of the process that has forked, and its ancestors.
const std::vector<Words>& lines_of_ancestors() {
  static const auto* const kLines =  // live as long as the process
      new std::vector<Words>(os::command_lines_of_ancestors());
  return *kLines;
}

unsigned usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) {
    return static_cast<unsigned>(CPU_COUNT(&cores));
  }
  return std::thread::hardware_concurrency();  // more than the set has room for
}

// Whether it can be the value of OMP_NUM_THREADS, a number for each level of nesting: "4,2".
bool is_list_of_numbers(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest &&
         text.find_first_not_of("0123456789, ") == std::string_view::npos;
}

}  // namespace

std::string free_spool(const std::string& spools) {
  const std::string path = spools + "/" + spool_name_of(os::process_id());
  return path + std::to_string(first_free_number(path));
}

bool has_spool(const std::string& spool) noexcept {
  return ::access(spool.c_str(), F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

std::string parent_spool(const std::string& spools) {
  const std::string name = spool_name_of(os::parent_process_id());
  const int free = first_free_number(spools + "/" + name);
  return free == 0 ? std::string() : name + std::to_string(free - 1);
}

LocationGroup this_process(RecordArguments which) {
  LocationGroup process;
  process.hostname = os::hostname();
  process.process_id = os::process_id();
  process.executable = os::executable();
  process.arguments = os::command_line();
  process.name = process.arguments.empty() ? "Process" : process.arguments.front();
  if (!process.arguments.empty()) process.arguments.erase(process.arguments.begin());
  process.arguments = recorded_arguments(std::move(process.arguments), which, 0);
  return process;
}

std::map<std::string, std::string> openmp_properties(std::string_view thread) {
  std::map<std::string, std::string> properties;
  if (thread.find("omp") == std::string_view::npos) return properties;
  properties[kUsableCores] = std::to_string(usable_cores());
  const char* const asked = std::getenv("OMP_NUM_THREADS");
  if (asked != nullptr && is_list_of_numbers(asked)) properties[kOmpNumThreads] = asked;
  return properties;
}

std::string signal_name(int signal) { return os::signal_name(signal); }

std::vector<std::string> known_secrets(RecordArguments which) {
  if (which == RecordArguments::kAll) return {};
  Words words = os::command_line();
  for (const Words& line : lines_of_ancestors()) {
    words.emplace_back();  // an option that ends there has no value in the next one
    words.insert(words.end(), line.begin(), line.end());
  }
  return secrets_in(std::move(words));
}

void remember_ancestors_for_children() { static_cast<void>(lines_of_ancestors()); }

ResidentMemory resident_memory() noexcept {
  const os::ResidentMemory memory = os::resident_memory();
  return {memory.now, memory.peak};
}

}  // namespace timeloom::record
