#include "python/session/start_options.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "python/observe/code_regions.hpp"
#include "settings/command_line.hpp"
#include "settings/scorep_settings.hpp"

namespace timeloom::python {
namespace {

std::string hostname() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::vector<std::string> strings_of(PyObject* list) {
  std::vector<std::string> result;
  if (list == nullptr || !PyList_Check(list)) return result;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* item = PyList_GET_ITEM(list, i);
    if (PyUnicode_Check(item)) result.push_back(text_of(item));
  }
  return result;
}

// What followed the name of the interpreter on the command line. Not sys.argv,
// which has no word of a module's name or the text of -c. The launcher has left
// there what the user would have written without it.
std::vector<std::string> command_words() {
  std::vector<std::string> words = strings_of(PySys_GetObject("orig_argv"));
  if (words.empty()) return strings_of(PySys_GetObject("argv"));  // python is embedded
  words.erase(words.begin());
  return words;
}

// Launchers of distributed programs (torchrun and those like it) tell each process so.
std::string rank_of_process() {
  const char* rank = std::getenv("RANK");
  const bool one_of_many = rank != nullptr && std::getenv("WORLD_SIZE") != nullptr;
  const bool number = one_of_many && *rank != '\0' &&
                      std::string_view(rank).find_first_not_of("0123456789") == std::string::npos;
  return number ? " rank " + std::string(rank) : std::string();
}

LocationGroup this_process() {
  LocationGroup process;
  process.hostname = hostname();
  process.process_id = static_cast<std::uint64_t>(::getpid());
  PyObject* executable = PySys_GetObject("executable");  // borrowed
  if (executable != nullptr && PyUnicode_Check(executable))
    process.executable = text_of(executable);
  process.arguments = command_words();
  const std::vector<std::string> program = split_interpreter_start(process.arguments).program;
  const bool module = program.size() > 1 && program.front() == "-m";
  process.name = (program.empty() ? "Process" : program[module ? 1 : 0]) + rank_of_process();
  return process;
}

void make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) {
      throw Error("cannot create the run directory " + part + ": " + std::strerror(errno) +
                  "; choose another with --output");
    }
    if (end == std::string::npos) return;
  }
}

// An id of a process can come again, also in a run.
std::string free_spool(const std::string& run) {
  const std::string base = run + "/spool/" + std::to_string(::getpid()) + "-";
  for (int i = 0;; ++i) {
    std::string directory = base + std::to_string(i);
    if (::access(directory.c_str(), F_OK) != 0) return directory;
  }
}

// What variables of Score-P say of the results; the launcher has checked them.
void as_scorep_says(record::StartOptions& options) {
  const ScorepSettings scorep(environ);
  options.properties["timeloom::layout"] = "scorep";
  options.properties[kMachineName] = scorep.text("SCOREP_MACHINE_NAME");
  options.properties[kProfileBaseName] = scorep.text("SCOREP_PROFILING_BASE_NAME");
  const std::string executable = scorep.text("SCOREP_EXECUTABLE");
  if (!executable.empty()) options.process.executable = executable;
  options.system_clock = scorep.text("SCOREP_TIMER") != "tsc";
}

}  // namespace

record::StartOptions start_options(const SessionOptions& options, const char* instrumenter) {
  make_directories(options.run + "/spool");
  record::StartOptions result;
  result.spool_directory = free_spool(options.run);
  result.writer.ring_size = options.profile ? result.writer.segment_size : options.buffer_size;
  result.writer.size_limit = {options.max_size, options.at_max_size};
  if (options.max_size != 0 && !options.profile) {
    // Most of what there is room for is for the log, also with many threads, each of which
    // holds a segment.
    constexpr std::uint64_t kLeast = 1 << 20;
    constexpr std::uint64_t kPage = 1 << 16;  // a multiple of any
    result.writer.ring_size = std::min(options.buffer_size, std::max(kLeast, options.max_size / 8));
    result.writer.segment_size = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        options.max_size / 64 / kPage * kPage, kPage, result.writer.segment_size));
  }
  result.process = this_process();
  result.parent = options.parent;
  result.profile = options.profile;
  result.max_depth = options.max_depth;
  result.metrics = options.metrics;
  result.profile_depth = options.profile_depth;
  if (options.profile_depth != 0) {
    result.properties[kProfileDepth] = std::to_string(options.profile_depth);
  }
  result.properties["timeloom::instrumenter"] = instrumenter;
  result.properties["timeloom::python"] = Py_GetVersion();
  if (!options.filter_file.empty())
    result.properties["timeloom::filter_file"] = options.filter_file;
  if (options.window.any()) result.properties["timeloom::window"] = describe(options.window);
  if (options.results != "all") result.properties["timeloom::results"] = options.results;
  if (options.experiment) as_scorep_says(result);
  return result;
}

}  // namespace timeloom::python
