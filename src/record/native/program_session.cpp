#include "record/native/program_session.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/filter/filter_text.hpp"
#include "core/known_directory.hpp"
#include "core/mpi/mpi_rank.hpp"
#include "core/mpi/spawned.hpp"
#include "core/native_run.hpp"
#include "core/run_properties.hpp"
#include "core/text/message_id.hpp"
#include "core/text/recorded_arguments.hpp"
#include "os/process.hpp"
#include "os/read_file.hpp"
#include "os/thread.hpp"
#include "record/measurement.hpp"
#include "record/native/code_filter.hpp"
#include "record/native/wrapper_interface.hpp"
#include "record/this_process.hpp"
#include "record/writer_options.hpp"

namespace timeloom::record {
namespace {

namespace fs = std::filesystem;

// The settings of the run, read from its settings file. Anybody may have changed the file or the
// variable that names it: the file is bounded, and numbers are checked. Throws Error.
class RunSettings {
 public:
  explicit RunSettings(const std::string& name) {
    constexpr std::uintmax_t kLargest = 1 << 20;
    std::error_code error;
    const bool regular = fs::is_regular_file(name, error);  // a FIFO would wait for a writer
    if (!regular || fs::file_size(name, error) > kLargest || error) {
      throw Error("there are no settings of a run in " + name + " [TL230]");
    }
    int failed = 0;  // what could be read counts
    const std::string text = os::read_file(name, kLargest, &failed);
    for (const std::string_view line : os::pieces_of(text, '\n')) {
      const std::size_t equals = line.find('=');
      if (equals == std::string_view::npos) continue;
      values_[std::string(line.substr(0, equals))] = line.substr(equals + 1);
    }
    if (values_.empty()) throw Error("there are no settings of a run in " + name + " [TL230]");
  }
  std::string text(const std::string& name) const {
    const auto found = values_.find("TIMELOOM_" + name);
    return found == values_.end() ? std::string() : found->second;
  }
  std::uint64_t number(const std::string& name) const {
    const std::string value = text(name);
    const char* const end = value.data() + value.size();
    std::uint64_t number = 0;
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (!value.empty() && (error != std::errc{} || stop != end)) {
      throw Error("TIMELOOM_" + name + " of the run is not a number: " + value + " [TL117]");
    }
    return number;
  }
  bool flag(const std::string& name) const { return text(name) == "on"; }

 private:
  std::map<std::string, std::string> values_;
};

struct Session {
  std::string spools;  // their directory
  StartOptions options;
};
Session* g_session = nullptr;  // lives as long as the process; nullptr: none was begun

std::string spools_of(const std::string& settings_file) {
  const char* const spools = ::secure_getenv(kNativeSpoolsVariable);
  if (spools != nullptr && *spools != '\0') return spools;
  return (fs::path(settings_file).parent_path() / "spool").string();
}

// "12" of a directory RUN/spool/rank-12 in which nobody records yet; else empty.
std::string rank_of(const std::string& spools) {
  constexpr std::string_view kName = "rank-";
  const std::string name = fs::path(spools).filename().string();
  if (!name.starts_with(kName)) return {};
  std::error_code error;
  const fs::directory_iterator entries(spools, error);
  const bool taken = std::any_of(begin(entries), end(entries), [](const fs::directory_entry& one) {
    std::error_code ignored;
    return one.is_directory(ignored);
  });
  return error || taken ? std::string() : name.substr(kName.size());
}

// Of a rank: where MPI_Comm_spawn has started it, the spawn, and its parent in another directory.
void describe_spawn(StartOptions& options, const std::string& spools) {
  const char* const parent = ::secure_getenv(kNativeParentVariable);
  const char* const text = ::secure_getenv(kSpawnVariable);
  const std::optional<Spawn> spawn = spawn_in(text == nullptr ? "" : text);
  if (parent == nullptr || !spawn) return;
  options.properties[kSpawn] = std::to_string(spawn->number);
  options.parent = fs::path(parent).lexically_relative(spools).string();
}

StartOptions start_options(const std::string& settings_file, const std::string& spools) {
  const RunSettings settings(settings_file);
  StartOptions options;
  options.spool_directory = free_spool(spools);
  options.profile = settings.flag("PROFILE");
  options.writer = writer_options(settings.number("BUFFER_SIZE"), settings.number("MAX_SIZE"),
                                  at_limit_of(settings.text("AT_MAX_SIZE")), options.profile);
  options.writer.pack_early = pack_early_of(settings.flag("PACK_EARLY"), true, false);
  const RecordArguments which = record_arguments_of(settings.text("RECORD_ARGUMENTS"));
  options.writer.secrets = known_secrets(which);
  options.process = this_process(which);
  options.parent = parent_spool(spools);
  options.max_depth = settings.number("MAX_DEPTH");
  options.profile_depth = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(settings.number("PROFILE_DEPTH"), UINT32_MAX));
  if (options.profile_depth != 0) {
    options.properties[kProfileDepth] = std::to_string(options.profile_depth);
  }
  options.metrics =
      plan_metrics({settings.text("METRIC_RUSAGE"), settings.text("METRIC_RUSAGE_PER_PROCESS"),
                    settings.text("METRIC_RUSAGE_SEP"), settings.text("METRIC_PAPI"),
                    settings.text("METRIC_PAPI_PER_PROCESS"), settings.text("METRIC_PAPI_SEP")});
  options.properties["timeloom::instrumenter"] = "native";
  if (const std::string rank = rank_of(spools); !rank.empty()) {
    options.properties[kRank] = rank;
    if (::secure_getenv(kNativePlainRankVariable) != nullptr) options.properties[kPlainRank] = "1";
    describe_spawn(options, spools);
  }
  if (!settings.text("THREAD_LOCKS").empty()) record_locks(1000 * settings.number("THREAD_LOCKS"));
  const bool each = settings.flag("MEMORY_EVENTS");
  know_all_blocks(settings.flag("MEMORY_ALL") || each);
  record_allocations(each);
  options.properties.merge(openmp_properties(settings.text("THREAD")));
  const std::string results = settings.text("RESULTS");
  if (results != "all") options.properties["timeloom::results"] = results;
  const std::string format = settings.text("TRACE_FORMAT");
  if (!format.empty() && format != "otf2") options.properties[kTraceFormat] = format;
  return options;
}

// Threads that nobody has named bear the name of the program.
std::string name_this_thread(std::uint32_t location) {
  static const std::string kUnnamed = os::thread_name();  // first called by the main thread
  const std::string name = os::thread_name();
  return location == 0 || name == kUnnamed ? std::string() : name;
}

void print_not_recorded(const char* reason) noexcept {
  const std::string_view text = without_id(reason);
  std::fprintf(stderr, "timeloom: process %llu is not recorded: %.*s [TL018]\n",
               static_cast<unsigned long long>(os::process_id()), static_cast<int>(text.size()),
               text.data());
}

// False: the run is woven, or its directory gone with a test, and wants no more events.
bool takes_events(const std::string& spools) { return ::access(spools.c_str(), W_OK) == 0; }

// In the child of a fork, whose measurement record::start() has arranged to forget.
void go_on_in_child() {
  if (g_session == nullptr || !has_spool(g_session->options.spool_directory)) return;
  try {
    StartOptions& options = g_session->options;
    options.parent = fs::path(options.spool_directory).filename().string();
    options.spool_directory = free_spool(g_session->spools);
    options.properties.erase(kRank);
    options.properties.erase(kPlainRank);
    options.properties.erase(kSpawn);
    options.writer = writer_options_of_child(options.writer);
    options.writer.drain_at_once = true;  // nobody starts it later
    options.process.process_id = os::process_id();
    if (!options.process.name.ends_with(" (fork)")) options.process.name += " (fork)";
    start_in_child(options);
  } catch (const std::exception& error) {
    print_not_recorded(error.what());
  }
}

// Its destructors are called where the main thread ends by pthread_exit(), not by exit().
void watch_end_of_main_thread() noexcept {
  pthread_key_t key{};
  if (pthread_key_create(&key, [](void*) { note_end_of_main_thread(); }) != 0) return;
  pthread_setspecific(key, g_session);
}

// The directory of the spools in the run that the launcher has made.
os::DirectoryId id_of(const std::string& spools, const fs::path& run) {
  const char* const id = ::secure_getenv(kRunIdVariable);
  const std::string way = fs::path(spools).lexically_relative(run).string();
  int error = 0;
  const KnownDirectory place =
      KnownDirectory(run, directory_id_in(id == nullptr ? "" : id)).below(way, &error);
  if (error != 0) throw Error("cannot open " + spools + ": " + reason_of(error) + " [TL211]");
  return place.id();
}

void begin(const std::string& settings_file) {
  const std::string spools = spools_of(settings_file);
  auto session = std::make_unique<Session>(Session{spools, start_options(settings_file, spools)});
  if (!takes_events(spools)) return;
  const char* const filter = ::secure_getenv(kNativeFilterVariable);
  if (filter != nullptr) filter_code(Filter(filter_choices_in(filter)), true);
  session->options.above = id_of(spools, fs::path(settings_file).parent_path());
  set_thread_namer(name_this_thread);
  start(session->options);
  g_session = session.release();
  watch_signals();
  watch_end_of_main_thread();
  os::at_fork_in_child(go_on_in_child);
  std::atexit(end_program_session);
  set_wrapping(true);
}

[[gnu::constructor]] void begin_when_loaded() {
  const int error_number = errno;
  const char* settings_file = ::secure_getenv(kNativeSettingsVariable);
  if (settings_file != nullptr && *settings_file != '\0') {
    try {
      begin(settings_file);
    } catch (const std::exception& error) {
      print_not_recorded(error.what());
    }
  }
  errno = error_number;
}

}  // namespace

std::string program_spool() {
  return g_session == nullptr ? std::string() : g_session->options.spool_directory;
}

void end_program_session() noexcept {
  const Session* const session = std::exchange(g_session, nullptr);
  if (session == nullptr) return;
  set_wrapping(false);
  if (is_restricted()) return;
  unwatch_signals();
  set_thread_namer(nullptr);
  // exit() in the handler of a signal that has interrupted the recorder of this thread, which
  // cannot be brought to an end then: the records so far are woven as after a kill.
  if (interrupts_recorder()) return;
  const Totals totals = stop();
  if (totals.unmatched_leaves == 0) return;
  add_property("timeloom::unmatched_leaves", std::to_string(totals.unmatched_leaves));
}

}  // namespace timeloom::record
