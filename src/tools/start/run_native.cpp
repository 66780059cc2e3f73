#include "tools/start/run_native.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "core/executable.hpp"
#include "core/filter/filter_text.hpp"
#include "core/known_directory.hpp"
#include "core/life.hpp"
#include "core/mpi/mpi_rank.hpp"
#include "core/mpi/spawned.hpp"
#include "core/native_run.hpp"
#include "core/text/message_id.hpp"
#include "core/text/shell_word.hpp"
#include "run/contents.hpp"
#include "run/job.hpp"
#include "run/open_directory.hpp"
#include "run/run_directory.hpp"
#include "run/spawned_group.hpp"
#include "run/spools.hpp"
#include "settings/launched_rank.hpp"
#include "tools/run/open_run.hpp"
#include "tools/start/find_python.hpp"
#include "tools/start/not_loaded.hpp"
#include "tools/start/started_program.hpp"
#include "tools/start/wrapper_files.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/output.hpp"
#include "weave/ranks/rank_weave.hpp"
#include "weave/run.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

namespace {

// The settings that do not concern Python.
constexpr std::string_view kNativeSettings[] = {"output",
                                                "force",
                                                "results",
                                                "trace-format",
                                                "weave",
                                                "keep-spool",
                                                "quiet",
                                                "buffer-size",
                                                "max-size",
                                                "at-max-size",
                                                "pack-early",
                                                "io",
                                                "thread",
                                                "thread-locks",
                                                "mpi",
                                                "compiler",
                                                "include",
                                                "exclude",
                                                "only-my-code",
                                                "filter-file",
                                                "memory",
                                                "memory-all",
                                                "kokkos",
                                                "profile",
                                                "profile-depth",
                                                "max-depth",
                                                "metric-rusage",
                                                "metric-papi",
                                                "metric-rusage-per-process",
                                                "metric-papi-per-process",
                                                "metric-rusage-sep",
                                                "metric-papi-sep"};

void refuse_python_options(const CommandLine& line) {
  if (!line.interpreter_flags.empty()) {
    throw Error(line.interpreter_flags.front() +
                " is a flag of Python; --program starts none [TL427]");
  }
  for (const auto& [setting, value] : line.options) {
    if (std::ranges::find(kNativeSettings, setting->name) != std::end(kNativeSettings)) continue;
    throw Error("--" + std::string(setting->name) +
                " is for Python programs; leave it out with --program [TL427]");
  }
}

Settings settings_of(const CommandLine& line) {
  refuse_python_options(line);
  Settings settings;
  for (const std::string& note : read_variables(settings, environ)) print_line(note);
  apply(line, settings);
  return settings;
}

std::string native_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// The spawn that has started this process, which then has the path of a spool in kParentVariable.
std::optional<Spawn> own_spawn() {
  return native_variable(kParentVariable).empty() ? std::nullopt
                                                  : spawn_in(native_variable(kSpawnVariable));
}

// The settings of the run that a spawned process joins. Throws Error where it has none.
Settings settings_of_run(const fs::path& directory) {
  std::istringstream text(run::read_settings(directory));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::vector<const char*> variables;
  for (const std::string& line : lines) variables.push_back(line.c_str());
  variables.push_back("TIMELOOM_MPI=on");  // a wrapper of MPI has started this process
  variables.push_back(nullptr);
  Settings settings;
  (void)read_variables(settings, variables.data());
  return settings;
}

// The run that the program records.
struct NativeRun {
  fs::path directory;                     // empty: it records none
  os::DirectoryId id = {};                // what it is
  bool existed = false;                   // the directory did before
  std::optional<LaunchedRank> rank = {};  // that shares the run with others
  std::uint32_t spawn = 0;                // that it is a rank of; 0: of the job

  KnownDirectory known() const { return {directory, id}; }
};

// The directory of the spools of a rank.
fs::path spools_of(const NativeRun& run) {
  return run.spawn == 0 ? run::spools_of_rank(run.directory, run.rank->rank)
                        : run::spools_of_spawned(run.directory, run.spawn, run.rank->rank);
}

// The same, in the run that was made or joined. An error: it is not there any more.
KnownDirectory open_spools(const NativeRun& run, int* error) {
  return run.known().below(spools_of(run).lexically_relative(run.directory), error);
}

// The values of LD_PRELOAD and KOKKOS_TOOLS_LIBS; empty: as it is.
struct LoadedLibraries {
  std::string wrappers = {};
  std::string kokkos = {};
};

// The filter of compiled code. Throws Error if the file of the filter is wrong.
std::string native_filter_of(const Settings& settings) {
  FilterChoices choices;
  choices.rules = settings.rules();
  choices.only_my_code = settings.flag(kSettings.only_my_code);
  const bool refused = settings.given(kSettings.compiler) && !settings.flag(kSettings.compiler);
  if (refused) choices.rules = {{false, "*"}};
  const std::string& file = settings.text(kSettings.filter_file);
  if (file.empty()) return filter_text(choices, {});
  (void)FilterFile::load(file);
  std::error_code ignored;
  const std::string path = fs::absolute(file, ignored).lexically_normal().string();
  if (path.find('\n') != std::string::npos)
    throw Error("cannot read the filter file: its path has a line break; rename it [TL120]");
  return filter_text(choices, path);
}

int run_program(const CommandLine& line, const std::string& program, const NativeRun& run,
                const LoadedLibraries& libraries = {}, const std::string& filter = {}) {
  const fs::path& directory = run.directory;
  const fs::path settings =
      directory.empty() ? directory : directory / run::entry(run::Item::kSettings).name;
  ::setenv(kNativeSettingsVariable, settings.c_str(), 1);
  ::setenv(kRunIdVariable, text_of(run.id).c_str(), 1);
  ::setenv(kNativeLauncherVariable, own_executable().c_str(), 1);
  ::unsetenv(kNativeFilterVariable);
  if (!filter.empty()) ::setenv(kNativeFilterVariable, filter.c_str(), 1);
  if (run.spawn != 0) ::setenv(kNativeParentVariable, native_variable(kParentVariable).c_str(), 1);
  ::unsetenv(kParentVariable);
  if (!libraries.wrappers.empty()) {
    ::setenv(kPreloadVariable, libraries.wrappers.c_str(), 1);
    const std::string options = with_any_link_order(native_variable(kSanitizerVariable));
    ::setenv(kSanitizerVariable, options.c_str(), 1);
  }
  if (!libraries.kokkos.empty()) ::setenv(kKokkosVariable, libraries.kokkos.c_str(), 1);
  if (run.rank) {
    ::setenv(kNativeSpoolsVariable, spools_of(run).c_str(), 1);
    if (!run.rank->of_mpi()) ::setenv(kNativePlainRankVariable, "1", 1);
    ::setenv(kRankVariable, rank_mark(*run.rank).c_str(), 1);
  }
  std::vector<std::string> words = line.arguments;
  words.insert(words.begin(), line.target);
  const int status = run_to_its_end(program, words);
  ::unsetenv(kNativeSettingsVariable);
  return status;
}

// Empty: nothing is to be preloaded.
std::string native_preload_value(Settings settings) {
  ask_for_mpi(settings, environ);
  const std::vector<std::string> files = preloaded_files(settings);
  const char* const present = std::getenv(kPreloadVariable);
  return files.empty() ? std::string() : with_libraries(present == nullptr ? "" : present, files);
}

// The run as the user can write it where the program was started.
std::string native_word(const fs::path& directory) {
  const fs::path here = run::current_directory();
  const fs::path relative = directory.lexically_relative(here);
  return shell_word(relative.empty() || relative.string().starts_with("..") ? directory.string()
                                                                            : relative.string());
}

// Prints the losses; the program's status is not changed. `more_ranks`: further ranks may still
// join the run.
std::string weave_run(const NativeRun& run, const Settings& settings, bool more_ranks) try {
  if (!settings.flag(kSettings.weave)) return "not woven yet; the next command does it";
  weave::WeaveOptions options;
  options.keep_spool = settings.flag(kSettings.keep_spool);
  options.progress = ::isatty(STDERR_FILENO) == 1;
  options.timeout = weave::kTimeoutAtEnd;
  options.just_ended = true;
  options.more_ranks = more_ranks;
  options.run = run.id;
  const weave::WeaveSummary summary = weave::weave(run.directory, options);
  warn_of_depth(summary);
  return describe(summary);
} catch (const std::exception& error) {
  return "not woven: " + std::string(without_id(error.what())) +
         "; everything recorded is still in the run [TL045]";
}

run::Others end_in_group(const NativeRun& run) {
  if (!run.rank) return run::Others::kEnded;
  const LaunchedRank& rank = *run.rank;
  if (rank.size == 0) return run::Others::kGoOn;
  if (run.spawn != 0) {
    return run::end_spawned(run.known(), run.spawn, rank.rank, rank.size);
  }
  return run::end_rank(run.known(), rank.rank, rank.size, run::kTimeoutForLateRanks);
}

// Its part of the weave. What fails is left to the weave of the run.
void convert_as_rank(const NativeRun& run, bool keep_spool) {
  if (!run.rank || run.rank->size < 2 || run.spawn != 0) return;
  int error = 0;
  const KnownDirectory spools = open_spools(run, &error);
  const auto names = error == 0 ? spools.open(&error).names(&error) : std::vector<std::string>();
  for (const std::string& name : names) {
    const KnownDirectory spool = spools.below(name, &error);
    if (error != 0) continue;
    try {
      weave::weave_rank(spool, run.rank->size, kWorthConverting, {run.known(), keep_spool});
    } catch (const std::exception&) {  // also for want of memory: the program has ended well
    }
  }
}

// Other ranks, and spawned processes: while they go on, the last one of them weaves the run.
run::Others end_of(const NativeRun& run) {
  int ignored = 0;
  if (run.rank) open_spools(run, &ignored).remove_file(kLifeName);
  const run::Others others = end_in_group(run);
  if (others == run::Others::kGoOn) return others;
  return run::end_group(run.known(), run.spawn) ? others : run::Others::kGoOn;
}

// No other message reports it.
void print_who_weaves(const NativeRun& run, const Settings& settings) {
  const bool unknown = run.rank && run.rank->size == 0 && run.rank->rank == 0;
  if (!unknown || settings.flag(kSettings.quiet)) return;
  print_line(run::text_of_unknown_size(run.rank->launcher) + ": timeloom report " +
             native_word(run.directory) + " [TL244]");
}

void print_nothing_recorded(const std::string& program) {
  const std::string why = why_nothing_is_loaded(program);
  print_line(
      "nothing was recorded: the program " +
      (why.empty() ? "has not loaded libtimeloom" : why + ", so the system loads no libtimeloom") +
      " [TL021]");
}

void finish_native_run(const NativeRun& run, const std::string& program, const Settings& settings,
                       double seconds) {
  const fs::path& directory = run.directory;
  if (settings.flag(kSettings.weave)) convert_as_rank(run, settings.flag(kSettings.keep_spool));
  const run::Others others = end_of(run);
  if (others == run::Others::kGoOn) return print_who_weaves(run, settings);
  const bool missing = others == run::Others::kNotHere;
  if (run::count_spools(directory) == 0) {
    if (!missing) {
      run::forget_job(run::Directory::open(run.known()));
      run::forget_directory(run.known(), run.existed);
    }
    return print_nothing_recorded(program);
  }
  const std::string text = weave_run(run, settings, missing);
  const bool failed = text.starts_with("not woven: ");
  if (settings.flag(kSettings.quiet)) {
    if (failed) print_line(text);
    return;
  }
  print_line(formatted("{:.3f} s, ", seconds) + text);
  if (missing) print_line(run::text_of_missing(directory, run.rank->size));
  print_line("next: timeloom report " + native_word(directory));
}

// Makes the directory of the run, whose name ends with `suffix`.
NativeRun make_directory(const CommandLine& line, const Settings& settings,
                         const std::string& suffix = {}) {
  const std::string& output = settings.text(kSettings.output);
  NativeRun run{suffix.empty() ? run::claim_directory(output, line.target)
                               : run::choose_directory(output, line.target) += suffix};
  std::error_code ignored;
  const bool claimed = output.empty() && suffix.empty();
  run.existed = !output.empty() && fs::exists(run.directory, ignored);
  const run::MadeRun made = run::make_directory(run.directory, settings.flag(kSettings.force),
                                                settings.as_variables(), claimed);
  run.id = made.directory.id();
  if (!made.note.empty()) print_line(made.note);
  // The recording library reports it if there is none.
  int error = 0;
  (void)made.directory.make_below(run::name_of(run::Item::kSpool), &error);
  return run;
}

// Of a rank that shares no run.
NativeRun make_apart(const CommandLine& line, const Settings& settings, const LaunchedRank& rank,
                     const std::string& apart, const std::string& reason) {
  NativeRun run = make_directory(line, settings, apart + ".rank-" + std::to_string(rank.rank));
  print_line(formatted("rank {} has a run of its own, {}: {} [TL038]", rank.rank,
                       run.directory.string(), without_id(reason)));
  return run;
}

NativeRun make_run_of_rank(const CommandLine& line, const Settings& settings,
                           const LaunchedRank& rank) {
  const std::string& output = settings.text(kSettings.output);
  const bool refuses = !output.empty() && !settings.flag(kSettings.force);
  const std::string apart = refuses ? rank.restart_suffix : std::string();
  if (rank.job.empty()) {
    return make_apart(line, settings, rank, apart,
                      formatted("nothing tells the job; name it in {}", kJobVariable));
  }
  const fs::path directory = run::choose_directory(output, line.target) += apart;
  const fs::path rendezvous = directory.parent_path();
  run::make_rendezvous(rendezvous);
  const std::string requested_name = output.empty() ? output : directory.filename().string();
  NativeRun made;
  const auto make = [&](unsigned program) {
    const std::string suffix = program > 1 ? fmt::format(".program-{}", program) : "";
    made = make_directory(line, settings, apart + suffix);
    return made.known();
  };
  const run::SharedRun shared =
      run::share_run(rendezvous, {rank.job, requested_name, rank.rank, rank.size}, make,
                     [&] { run::forget_directory(made.known(), made.existed); });
  if (!shared.refused.empty()) return make_apart(line, settings, rank, apart, shared.refused);
  return {shared.run.path(), shared.run.id(), made.existed, rank};
}

// A rank that MPI_Comm_spawn has started, whose run is its parents' run.
NativeRun join_spawned(const Spawn& spawn) {
  const auto rank = launched_rank_of_this_process(environ);
  if (!rank || rank->size == 0) {
    throw EnvironmentError("its rank among the spawned processes is not known [TL074]");
  }
  const fs::path directory = run_of_spool(native_variable(kParentVariable));
  if (directory.empty())
    throw EnvironmentError(
        formatted("{} is not a spool [TL074]", native_variable(kParentVariable)));
  const KnownDirectory run(directory, directory_id_in(native_variable(kRunIdVariable)));
  if (!run::join_spawn(run, spawn.number, rank->rank)) {
    throw EnvironmentError(formatted("another process has been rank {} of spawn {} [TL074]",
                                     rank->rank, spawn.number));
  }
  return {directory, run.id(), true, rank, spawn.number};
}

void print_nothing_measured(const char* reason) {
  print_line("nothing is measured: " + std::string(without_id(reason)) + " [TL019]");
}

// No directory: the machine is in the way, and the user has a line about it.
NativeRun make_run(const CommandLine& line, const Settings& settings) try {
  if (const auto spawn = own_spawn()) return join_spawned(*spawn);
  const auto rank = launched_rank_of_this_process(environ);
  return rank ? make_run_of_rank(line, settings, *rank) : make_directory(line, settings);
} catch (const EnvironmentError& error) {
  print_nothing_measured(error.what());
  return {};
} catch (const std::system_error& error) {
  print_nothing_measured(error.what());
  return {};
}

}  // namespace

int run_native(const CommandLine& line) {
  const std::string program = find_executable(line.target);
  if (program.empty() && line.target.starts_with('-')) {
    throw Error("after --program comes the program; " + line.target + " goes before it [TL428]");
  }
  if (program.empty()) throw Error("there is no program " + line.target + " to run [TL428]");
  Settings settings;
  try {
    settings = own_spawn() ? settings_of_run(run_of_spool(native_variable(kParentVariable)))
                           : settings_of(line);
  } catch (const Error& error) {
    if (!own_spawn()) throw;
    print_nothing_measured(error.what());
    return run_program(line, program, {});
  }
  if (settings.text(kSettings.results) == "none") return run_program(line, program, {});
  const std::string filter = native_filter_of(settings);
  const NativeRun run = make_run(line, settings);
  if (run.directory.empty()) return run_program(line, program, run);
  const auto begin = std::chrono::steady_clock::now();
  int ignored = 0;
  if (run.rank) (void)write_life(open_spools(run, &ignored));  // others do not end it meanwhile
  int status = 0;
  try {
    const std::string kokkos = kokkos_value(settings, native_variable(kKokkosVariable));
    status = run_program(line, program, run, {native_preload_value(settings), kokkos}, filter);
  } catch (const Error&) {
    if (end_of(run) == run::Others::kEnded && run::count_spools(run.directory) == 0) {
      run::forget_directory(run.known(), run.existed);
    }
    throw;
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  finish_native_run(run, program, settings, wall.count());
  return status;
}

}  // namespace timeloom::tools
