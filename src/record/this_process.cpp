#include "record/this_process.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "os/process.hpp"
#include "os/thread.hpp"

namespace timeloom::record {
namespace {

// The first part of the host's name, of plain letters.
std::string host_word() {
  constexpr std::size_t kLongest = 40;
  std::string name = os::hostname();
  name.resize(std::min({name.find('.'), kLongest, name.size()}));
  for (char& byte : name) {
    if (std::isalnum(static_cast<unsigned char>(byte)) == 0) byte = '_';
  }
  return name.empty() ? "host" : name;
}

// Without the number at its end.
std::string spool_name(std::uint64_t process) {
  return host_word() + "-" + std::to_string(process) + "-" + std::to_string(os::start_of(process)) +
         "-";
}

int first_free_number(const std::string& path) {
  int number = 0;
  while (::access((path + std::to_string(number)).c_str(), F_OK) == 0) ++number;
  return number;
}

}  // namespace

std::string free_spool(const std::string& spools) {
  const std::string path = spools + "/" + spool_name(os::process_id());
  return path + std::to_string(first_free_number(path));
}

std::string parent_spool(const std::string& spools) {
  const std::string name = spool_name(os::parent_process_id());
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

}  // namespace timeloom::record
