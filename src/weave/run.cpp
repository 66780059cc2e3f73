#include "weave/run.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "formats/cube/profile_file.hpp"
#include "formats/otf2/otf2.hpp"
#include "profile/call_tree_sink.hpp"
#include "spool/reader.hpp"
#include "weave/manifest.hpp"
#include "weave/run_contents.hpp"
#include "weave/spool_source.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;
namespace {

constexpr char kWorking[] = ".weaving";
constexpr char kWoven[] = ".woven";  // a spool that is not needed any more

// One weave of a run at a time; the lock goes with the process.
class RunLock {
 public:
  explicit RunLock(const fs::path& run) : fd_(::open(run.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw Error("cannot open " + run.string() + ": " + std::strerror(errno));
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(fd_);
      throw Error(run.string() + " is being woven by another process; wait until it has finished");
    }
  }
  ~RunLock() { ::close(fd_); }
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int fd_;
};

// Shows how far the weave is, on a terminal and after the first second.
class ProgressLine {
 public:
  ProgressLine(const SpoolSource& source, bool wanted) {
    if (wanted && ::isatty(STDERR_FILENO) != 0) {
      thread_ = std::thread([this, &source] { show(source); });
    }
  }
  ~ProgressLine() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show(const SpoolSource& source) {
    using namespace std::chrono_literals;
    std::unique_lock lock(mutex_);
    bool shown = false;
    for (auto pause = 1000ms; !changed_.wait_for(lock, pause, [this] { return done_; });
         pause = 200ms) {
      std::fprintf(stderr, "\r%s: weaving the trace, %3.0f %%", program_invocation_short_name,
                   100 * source.progress());
      shown = true;
    }
    if (shown) std::fprintf(stderr, "\r\033[K");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

// What a weave makes, in the order in which it is put in place; removed in the
// opposite order. The anchor comes last: a directory of traces without it is that
// of an interrupted weave. Without any, the profile makes the run.
constexpr std::array kResults = {"traces",      "traces.def",       "traces.marker",
                                 kManifestName, cube::kProfileName, kAnchor};

// The manifest stays where this weave makes none.
void replace_results(const fs::path& from, const fs::path& to) {
  for (auto name = kResults.rbegin(); name != kResults.rend(); ++name) {
    if (*name != std::string_view(kManifestName) || fs::exists(from / *name)) {
      fs::remove_all(to / *name);
    }
  }
  for (const char* name : kResults) {
    if (fs::exists(from / name)) fs::rename(from / name, to / name);  // not every run has all
  }
}

// A folder of its own for what is being written; gone at the end, also a bad one.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(fs::path path) : path_(std::move(path)) {
    fs::remove_all(path_);  // of a weave that was interrupted
    fs::create_directory(path_);
  }
  ~WorkingDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;
  const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

// Half a spool must never be woven, so it loses its name before it is removed.
void remove_spool(const fs::path& run) {
  fs::rename(run / kSpool, run / kWoven);
  fs::remove_all(run / kWoven);
}

void mark_unfinished(const fs::path& run, bool running) {
  const fs::path mark = run / kSpool / kRunning;
  if (!running) {
    fs::remove(mark);
    return;
  }
  std::ofstream(mark).close();
}

void list_contents(const fs::path& run, const fs::path& results, bool spool_stays) {
  std::set<std::string> names;
  for (const fs::path& directory : {run, results}) {
    for (const auto& entry : fs::directory_iterator(directory)) {
      names.insert(entry.path().filename().string());
    }
  }
  if (!spool_stays) names.erase(kSpool);
  write_manifest(results, names);
}

// What the measurement has been told of its results.
bool says(const SpoolSource& source, const char* property, std::string_view value) {
  const auto& properties = source.definitions().properties;
  const auto found = properties.find(property);
  return found != properties.end() && found->second == value;
}

// A directory in the manner of Score-P has a manifest from the beginning, and
// nothing that the manifest does not name.
bool is_experiment(const SpoolSource& source) { return says(source, "timeloom::layout", "scorep"); }

// Names the trace, if there is one, so that readers can take the profile in its place.
void write_profile(const profile::CallTree& folded, const SpoolSource& source, bool with_trace,
                   const fs::path& directory) {
  cube::ProfileFacts facts;
  facts.parameters = static_cast<std::uint32_t>(source.definitions().parameters.size());
  if (with_trace) facts.trace_id = otf2::trace_id(directory / kAnchor);
  cube::save(folded, directory / cube::kProfileName, facts);
}

// Returns what the profile says of the run.
Definitions write_results(SpoolSource& source, const fs::path& directory,
                          const WeaveOptions& options) {
  profile::CallTreeSink tree;
  std::vector<RunSink*> sinks;
  std::unique_ptr<RunSink> trace;
  const bool with_trace =
      !source.in_profile_mode() && !says(source, "timeloom::results", "profile");
  const bool with_profile = !with_trace || !says(source, "timeloom::results", "trace");
  if (with_profile) sinks.push_back(&tree);
  if (with_trace) {
    trace = otf2::create(directory);
    sinks.push_back(trace.get());
  }
  for (auto& [location, folded] : source.take_profiles()) tree.put(location, std::move(folded));
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  {
    const ProgressLine line(source, options.progress);
    source.feed(sinks, options.threads != 0 ? options.threads : cores);
  }
  if (!with_profile) return source.definitions();
  profile::CallTree folded = tree.take();
  write_profile(folded, source, with_trace, directory);
  return std::move(folded.definitions);
}

// What could not be read now may be readable to somebody else. Complete when
// the source has been fed.
bool damaged(const SpoolSource& source) {
  return source.unreadable_spools() != 0 || source.damaged_segments() != 0;
}

std::uint64_t number_in(const Definitions& definitions, const char* key) {
  const auto found = definitions.properties.find(key);
  return found == definitions.properties.end() ? 0
                                               : std::strtoull(found->second.c_str(), nullptr, 10);
}

// `definitions`: those of the profile.
WeaveSummary summary_of(const SpoolSource& source, const Definitions& definitions) {
  WeaveSummary summary;
  summary.events = 0;
  for (const Location& location : definitions.locations) summary.events += location.event_count;
  if (summary.events == 0) summary.events = source.events();  // there is no profile
  summary.locations = source.definitions().locations.size();
  summary.processes = source.definitions().groups.size();
  summary.lost_events = source.lost_events() + source.dropped_events();
  summary.older_events = source.older_events();
  summary.running = source.running();
  summary.closed_regions = source.ended_in_order() ? 0 : source.closed_regions();
  summary.damaged_segments = source.damaged_segments() + source.unreadable_spools();
  summary.ending = source.ending();
  summary.folded_events = number_in(definitions, kFoldedEvents);
  summary.experiment = is_experiment(source);
  summary.reached_depth = number_in(definitions, kReachedDepth);
  summary.profile_depth = number_in(definitions, kProfileDepth);
  return summary;
}

// Last, when the run is complete: whoever looks for the profile of a run finds it by its ending.
void name_profile(const SpoolSource& source, const fs::path& run) {
  const std::string& name = source.profile_name();
  if (name.empty() || !fs::exists(run / cube::kProfileName)) return;
  fs::rename(run / cube::kProfileName, run / (name + ".cubex"));
}

void refuse_without_spools(const fs::path& run) {
  std::error_code error;
  if (is_woven(run)) {
    throw Error(run.string() + " has been woven already; open it with: timeloom report " +
                run.string());
  }
  refuse_unreadable(run);
  throw Error(run.string() +
              " holds no spool of a measurement; name the directory of a run that does");
}

}  // namespace

WeaveSummary weave(const fs::path& run, const WeaveOptions& options) try {
  const RunLock lock(run);
  fs::remove_all(run / kWoven);  // left by a weave that was interrupted at its end
  const std::vector<std::string> spools = spools_of(run);
  if (spools.empty()) refuse_without_spools(run);
  SpoolSource source(spools);
  const WorkingDirectory working(run / kWorking);
  const Definitions definitions = write_results(source, working.path(), options);
  const bool keep_spool = options.keep_spool || damaged(source) || source.running() != 0;
  if (!is_experiment(source)) list_contents(run, working.path(), keep_spool);
  replace_results(working.path(), run);
  name_profile(source, run);
  mark_unfinished(run, source.running() != 0);
  if (!keep_spool) remove_spool(run);
  return summary_of(source, definitions);
} catch (const fs::filesystem_error& error) {
  std::error_code ignored;
  if (!fs::exists(run / kSpool, ignored)) {
    throw Error(run.string() + " was removed while it was woven");
  }
  throw Error("cannot write to " + run.string() + ": " + error.code().message() +
              "; nothing recorded was lost, weave again: timeloom weave " + run.string());
}

}  // namespace timeloom::weave
