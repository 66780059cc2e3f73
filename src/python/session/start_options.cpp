#include "python/session/start_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/known_directory.hpp"
#include "core/mpi/mpi_rank.hpp"
#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/text/recorded_arguments.hpp"
#include "python/interpreter/gil_words.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/session/worker_name.hpp"
#include "record/this_process.hpp"
#include "record/writer_options.hpp"
#include "settings/command_line.hpp"
#include "settings/launched_rank.hpp"

namespace timeloom::python {
namespace {

std::vector<std::string> strings_of(PyObject* list) {
  std::vector<std::string> result;
  if (list == nullptr || !PyList_Check(list)) return result;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* item = PyList_GET_ITEM(list, i);
    if (PyUnicode_Check(item)) result.push_back(file_text(item));
  }
  return result;
}

// The words after the name of the interpreter on the command line. sys.argv would lack the name
// after -m and the text after -c. The launcher has left there the words that the user would have
// written without it.
std::vector<std::string> command_words() {
  std::vector<std::string> words = strings_of(PySys_GetObject("orig_argv"));
  if (words.empty()) return strings_of(PySys_GetObject("argv"));  // python is embedded
  words.erase(words.begin());
  return words;
}

// Set for a process that a measured one has started as a rank, as torchrun does. Its children are
// not ranks.
std::string rank_of_process() {
  const std::optional<LaunchedRank> rank = launched_rank(variables_of(environ));
  return rank && std::getenv(kRankVariable) == nullptr ? " rank " + std::to_string(rank->rank)
                                                       : std::string();
}

LocationGroup this_python(RecordArguments which, const SessionContext& context) {
  LocationGroup process = record::this_process(which);
  PyObject* executable = PySys_GetObject("executable");  // borrowed
  if (executable != nullptr && PyUnicode_Check(executable))
    process.executable = file_text(executable);
  std::vector<std::string> words = command_words();
  const auto [flags, program] = split_interpreter_start(words);
  const bool module = program.size() > 1 && program.front() == "-m";
  const std::size_t named = words.size() - program.size() + (module ? 2 : 1);
  process.arguments = recorded_arguments(std::move(words), which, named);
  process.name = program.empty() ? "Process" : program[module ? 1 : 0];
  if (!context.parent.empty()) process.name += rank_of_process();
  if (const std::string worker = xdist_worker(); !worker.empty()) {
    process.name = worker;
    process.arguments = {"-m", "pytest"};  // its own arguments are execnet's
  }
  return process;
}

// The directory of the spools. For a process that a measured one has started it exists, unless the
// run has been woven without it.
KnownDirectory place_of_spools(const SessionContext& context) {
  const KnownDirectory run(context.run, context.id);
  const std::string spools = context.spools.empty() ? context.run + "/spool" : context.spools;
  int error = spools.starts_with(context.run + "/") ? 0 : ENOTDIR;
  KnownDirectory place;
  if (error == 0) {
    const std::string way = spools.substr(context.run.size() + 1);
    place = context.parent.empty() ? run.make_below(way, &error) : run.below(way, &error);
  }
  if (error == 0) return place;
  throw Error("cannot create a spool in " + spools + ": " + reason_of(error) +
              "; choose another with --output [TL241]");
}

// The directories of Python's own library and of installed packages, from `sysconfig` and `site`;
// modules that are not imported are not used.
std::string library_directories() {
  std::string text;
  const auto add = [&](const std::string& path) {
    if (path.size() > 1 && path.find(':') == std::string::npos)
      text += (text.empty() ? "" : ":") + path;
  };
  if (PyObject* platform = PySys_GetObject("_stdlib_dir")) {  // borrowed
    if (PyUnicode_Check(platform)) add(utf8_text(platform));
  }
  for (const std::string& path : strings_of(PySys_GetObject("path"))) {
    const bool packages = path.ends_with("/site-packages") || path.ends_with("/dist-packages");
    if (packages || path.ends_with("/lib-dynload")) add(path);
  }
  return text;
}

std::string working_directory() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::current_path(error);
  return error ? std::string() : path.string();
}

std::uint32_t profile_depth_of(const Settings& settings) {
  const std::uint64_t levels = settings.number(kSettings.profile_depth);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(levels, UINT32_MAX));
}

std::map<std::string, std::string> properties_of(const Settings& settings,
                                                 const SessionContext& context,
                                                 const SessionPlan& plan) {
  std::map<std::string, std::string> properties = context.program.description.properties;
  const auto add = [&](const char* name, const std::string& value, bool wanted) {
    if (wanted) properties[name] = value;
  };
  const std::string depth = std::to_string(profile_depth_of(settings));
  const bool sampled = settings.flag(kSettings.sampling);
  const bool only_profile = sampled && settings.flag(kSettings.profile);
  const std::string results = only_profile ? "profile" : settings.text(kSettings.results);
  const std::string format = settings.text(kSettings.trace_format);
  const std::string& filter = context.program.filter.path;
  const std::string missing = missing_calls(*plan.instrumenter);
  add("timeloom::instrumenter", plan.instrumenter->name, true);
  add("timeloom::python", Py_GetVersion(), true);
  add(kProfileDepth, depth, depth != "0");
  add(kLocationNames, "scorep", settings.text(kSettings.location_names) == "scorep");
  add("timeloom::filter_file", filter, !filter.empty());
  add(kWindow, describe(plan.window), plan.window.any());
  add("timeloom::results", results, results != "all");
  add(kTraceFormat, format, format != "otf2");
  add(kMissingCalls, missing, !missing.empty());
  add(kSampledCalls, kStacksInHandler, sampled);
  add(kCFunctions, "1", settings.flag(kSettings.c_functions));
  add(kRank, std::to_string(context.rank.value_or(0)), context.rank.has_value());
  add(kPlainRank, "1", context.rank && !context.rank_of_mpi);
  const std::string directory = working_directory(), libraries = library_directories();
  add(kProgramDirectory, directory, !directory.empty());
  add(kLibraryDirectories, libraries, !libraries.empty());
  properties.merge(record::openmp_properties(settings.text(kSettings.thread)));
  return properties;
}

void look_at_waits(const Settings& settings, record::StartOptions& options) {
  auto& waits = options.writer.waits;
  waits.on = settings.flag(kSettings.waiting) && settings.flag(kSettings.causes);
  if (waits.on) (void)timeloom_gil_words(&waits.gil_from, &waits.gil_to);
}

}  // namespace

record::StartOptions start_options(const Settings& settings, const SessionContext& context,
                                   const SessionPlan& plan) {
  const KnownDirectory spools = place_of_spools(context);
  const RunDescription& description = context.program.description;
  record::StartOptions result;
  result.spool_directory = record::free_spool(spools.path());
  result.above = spools.id();
  result.writer = record::writer_options(
      settings.number(kSettings.buffer_size), settings.number(kSettings.max_size),
      record::at_limit_of(settings.text(kSettings.at_max_size)),
      settings.flag(kSettings.profile) && !settings.flag(kSettings.sampling));
  result.writer.pack_early = record::pack_early_of(settings.given(kSettings.pack_early),
                                                   settings.flag(kSettings.pack_early),
                                                   !settings.text(kSettings.overhead).empty());
  const RecordArguments which = record_arguments_of(settings.text(kSettings.record_arguments));
  result.writer.secrets = record::known_secrets(which);
  result.process = this_python(which, context);
  if (!description.executable.empty()) result.process.executable = description.executable;
  result.parent = context.parent;
  result.properties = properties_of(settings, context, plan);
  result.system_clock = description.system_clock;
  result.metrics = plan.metrics;
  const bool sampled = settings.flag(kSettings.sampling);
  result.waiting = settings.flag(kSettings.waiting);
  look_at_waits(settings, result);
  result.max_depth = settings.number(kSettings.max_depth);
  result.profile = settings.flag(kSettings.profile) && !sampled;
  result.profile_depth = profile_depth_of(settings);
  return result;
}

}  // namespace timeloom::python
