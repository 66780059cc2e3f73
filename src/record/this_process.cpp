#include "record/this_process.hpp"

#include <unistd.h>

#include <utility>

#include "os/process.hpp"
#include "os/thread.hpp"

namespace timeloom::record {
namespace {

std::string spool_name(std::uint64_t process, int number) {
  return std::to_string(process) + "-" + std::to_string(number);
}

std::string spool_of(const std::string& run, const std::string& name) {
  return run + "/spool/" + name;
}

int first_free_number(const std::string& run, std::uint64_t process) {
  int number = 0;
  while (::access(spool_of(run, spool_name(process, number)).c_str(), F_OK) == 0) ++number;
  return number;
}

}  // namespace

std::string free_spool(const std::string& run) {
  const std::uint64_t process = os::process_id();
  return spool_of(run, spool_name(process, first_free_number(run, process)));
}

std::string parent_spool(const std::string& run) {
  const std::uint64_t parent = os::parent_process_id();
  const int free = first_free_number(run, parent);
  return free == 0 ? std::string() : spool_name(parent, free - 1);
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
