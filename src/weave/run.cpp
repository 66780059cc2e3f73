#include "weave/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/engines/engine_regions.hpp"
#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "core/text/plain_text.hpp"
#include "core/throttled.hpp"
#include "core/unmeasured.hpp"
#include "formats/cube/cube_profile.hpp"
#include "formats/otf2/otf2.hpp"
#include "formats/packed/packed.hpp"
#include "profile/call_tree_sink.hpp"
#include "profile/engine_counts.hpp"
#include "profile/flat_profile.hpp"
#include "profile/samples/throttled_times.hpp"
#include "run/job.hpp"
#include "run/manifest.hpp"
#include "run/open_directory.hpp"
#include "run/spools.hpp"
#include "spool/reader.hpp"
#include "weave/run_contents.hpp"
#include "weave/spool_source.hpp"
#include "weave/trace/on_disk.hpp"
#include "weave/trace/trace_files.hpp"
#include "weave/trace/working_directory.hpp"

namespace timeloom::weave {
namespace fs = std::filesystem;
namespace {

using run::Item;

run::Directory open_run_directory(const KnownDirectory& run) try {
  return run::Directory::open(run);
} catch (const std::system_error& error) {
  throw Error("cannot open " + run.path() + ": " + error.code().message() + " [TL211]");
}

// One weave of a run at a time; the lock goes with the process.
run::Directory open_and_lock(const KnownDirectory& known, std::chrono::milliseconds timeout) {
  using namespace std::chrono_literals;
  run::Directory run = open_run_directory(known);
  for (const auto end = std::chrono::steady_clock::now() + timeout; !run.try_lock();
       std::this_thread::sleep_for(20ms)) {
    if (std::chrono::steady_clock::now() < end) continue;
    throw Error(known.path() +
                " is being woven by another process; wait until it has finished [TL212]");
  }
  return run;
}

// Shows the progress of the weave, on a terminal and after the first second.
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

// See run::kResults for the order. Entries that this layout does not write stay.
void replace_results(const run::Directory& from, const run::Directory& to,
                     const run::Layout& layout) {
  for (auto item = run::kResults.rbegin(); item != run::kResults.rend(); ++item) {
    if (layout.weaves(*item)) to.remove(*item);
  }
  for (const Item item : run::kResults) {
    if (from.holds(item)) from.move(item, to, item);  // some runs lack some entries
  }
}

// Before the results are in place: a run with results and without this mark is finished.
void mark_as_running(const run::Directory& run) {
  const std::optional<run::Directory> spool = run.open_directory(Item::kSpool);
  if (!spool) {
    throw Error(run.path().string() + " was removed while it was woven [TL213]");
  }
  if (spool->open_file(Item::kRunning).is_open()) return;
  spool->remove(Item::kRunning);  // a link, for one
  spool->write(Item::kRunning, "");
}

void mark_as_ended(const run::Directory& run) {
  if (const auto spool = run.open_directory(Item::kSpool)) spool->remove(Item::kRunning);
}

void note_unmeasured(SpoolSource& source, const Unmeasured& counts) {
  const auto put = [&source](const char* key, std::uint64_t number) {
    if (number != 0) source.set_property(key, std::to_string(number));
  };
  put(kUnmeasuredProcesses, counts.processes);
  put(kSubInterpreters, counts.interpreters);
  put(kWorkersLeftOut, counts.workers + source.workers_left_out());
}

std::string manifest_of(const run::Directory& run, const run::Directory& results, bool spool_stays,
                        run::Stage stage) {
  std::set<Item> items;
  for (const run::Entry& entry : run::kContents) {
    const bool result = entry.role == run::Role::kResult;
    if (entry.item == Item::kSpool && !spool_stays) continue;
    if ((result ? results : run).holds(entry.item)) items.insert(entry.item);
  }
  return run::manifest_text(items, stage);
}

const run::Layout& layout_of(const SpoolSource& source) {
  return run::layout_of(source.definitions().properties);
}

// Records the name of the trace, if there is one, so that readers can use the profile in its place.
void write_profile(const profile::CallTree& aggregated, const SpoolSource& source, bool with_trace,
                   const fs::path& directory) {
  cube::ProfileFacts facts;
  facts.parameters = static_cast<std::uint32_t>(source.definitions().parameters.size());
  const Item trace = source.wants_packed() ? Item::kPacked : Item::kAnchor;
  if (with_trace) facts.trace_id = trace_id(directory / run::name_of(trace));
  const fs::path file = directory / run::name_of(Item::kProfile);
  // Opening the profile compares its checksums; the trace was compared when it was written.
  if (cube::save(aggregated, file, facts)) const cube::Reader written(file);
}

std::vector<ThrottledFunction> throttled_of(const profile::CallTree& tree) {
  const ThrottledFunctions throttled(tree.definitions.properties);
  std::vector<ThrottledFunction> functions;
  if (throttled.entries().empty()) return functions;
  for (const profile::FlatRow& row : profile::flat_profile(tree, profile::sum_locations(tree))) {
    if (!row.region.defined()) continue;
    const Region& region = tree.definitions.regions[row.region.value()];
    if (throttled.names(region)) functions.push_back({region.name, row.totals.visits});
  }
  std::ranges::stable_sort(functions, std::ranges::greater(), &ThrottledFunction::visits);
  return functions;
}

// Without a profile.
std::vector<ThrottledFunction> throttled_of(const Definitions& definitions) {
  const ThrottledFunctions throttled(definitions.properties);
  std::vector<ThrottledFunction> functions;
  for (const Region& region : definitions.regions) {
    if (throttled.names(region)) functions.push_back({region.name});
  }
  return functions;
}

std::unique_ptr<RunSink> create_trace(const SpoolSource& source, const fs::path& directory) {
  if (source.wants_packed()) {
    auto trace = packed::create(directory / run::name_of(Item::kPacked));
    for (packed::TakenPart& part : source.taken_parts()) trace->take(std::move(part));
    return trace;
  }
  auto trace = otf2::create(directory, fs::path(run::name_of(Item::kAnchor)).stem());
  for (otf2::EventFiles& files : source.event_files()) trace->take(std::move(files));
  return trace;
}

// Properties of the run from the profile, or from the trace where there is no profile.
struct Written {
  Definitions definitions;
  std::vector<ThrottledFunction> throttled;
};

Written write_results(SpoolSource& source, const fs::path& directory, const WeaveOptions& options) {
  profile::CallTreeSink tree;
  std::vector<RunSink*> sinks;
  std::unique_ptr<RunSink> trace;
  const bool with_trace = source.wants_trace();
  const bool with_profile = source.wants_profile();
  SampledTimeSink sampled(tree, source.sampled_times(), source.sampled_time_metric());
  if (with_profile) sinks.push_back(&sampled);
  if (with_trace) {
    trace = create_trace(source, directory);
    sinks.push_back(trace.get());
  }
  for (auto& [location, aggregated] : source.take_profiles())
    tree.put(location, std::move(aggregated));
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  {
    const ProgressLine line(source, options.progress);
    source.replay(sinks, options.threads != 0 ? options.threads : cores);
  }
  if (!with_profile) return {source.definitions(), throttled_of(source.definitions())};
  profile::CallTree aggregated = tree.take();
  if (!source.memory().empty()) add_memory(aggregated, source.memory());
  profile::add_estimates(aggregated, source.estimates());
  if (std::string engine = profile::engine_text(aggregated); !engine.empty())
    aggregated.definitions.properties[kEngine] = std::move(engine);
  write_profile(aggregated, source, with_trace, directory);
  std::vector<ThrottledFunction> throttled = throttled_of(aggregated);
  return {std::move(aggregated.definitions), std::move(throttled)};
}

Written write_results(SpoolSource& source, const run::Directory& directory,
                      const WeaveOptions& options) try {
  return write_results(source, directory.fixed_path(), options);
} catch (const Error& error) {
  throw with_known_path(error, directory);
}

// Parts that this user could not read may be readable for another one. Complete when the source has
// been fed.
bool damaged(const SpoolSource& source) {
  return source.unreadable_spools() != 0 || source.damaged_segments() != 0 ||
         source.foreign_segments() != 0;
}

std::uint64_t number_in(const Definitions& definitions, const char* key) {
  const auto found = definitions.properties.find(key);
  return found == definitions.properties.end() ? 0
                                               : std::strtoull(found->second.c_str(), nullptr, 10);
}

// `definitions`: the definitions of the profile.
WeaveSummary summary_of(const SpoolSource& source, const Definitions& definitions) {
  WeaveSummary summary;
  summary.events = 0;
  for (const Location& location : definitions.locations) summary.events += location.event_count;
  if (summary.events == 0) summary.events = source.events();  // there is no profile
  summary.tasks = number_in(source.definitions(), kTasks);
  summary.task_lanes = number_in(source.definitions(), kTaskLanes);
  const std::uint64_t of_tasks = summary.task_lanes > 0 ? summary.task_lanes : summary.tasks;
  const auto threads =
      std::ranges::count(source.definitions().locations, LocationType::kCpuThread, &Location::type);
  summary.threads = static_cast<std::uint64_t>(threads) - of_tasks;
  summary.bytes = source.bytes() + source.sample_bytes();
  summary.processes = source.definitions().groups.size();
  summary.lost_events = source.lost_events() + source.dropped_events();
  summary.older_events = source.older_events();
  summary.running = source.running();
  summary.maybe_running = source.maybe_running();
  summary.closed_regions = source.ended_in_order() ? 0 : source.closed_regions();
  summary.foreign_segments = source.foreign_segments();
  summary.damaged_segments = source.damaged_segments() + source.unreadable_spools();
  summary.unnamed_code = number_in(source.definitions(), kUnnamedCode);
  summary.ending = source.ending();
  summary.aggregated_events = number_in(definitions, kAggregatedEvents);
  if (const auto cost = measuring_cost_of(source.definitions().properties)) {
    summary.overhead = shares_of(*cost);
    summary.unknown_costs = cost->unknown_processes();
  }
  const auto share = definitions.properties.find(kObservedShare);
  if (share != definitions.properties.end()) summary.observed_share = share->second;
  summary.layout = &layout_of(source);
  const auto engine = definitions.properties.find(kEngine);
  if (engine != definitions.properties.end()) summary.engine = engine->second;
  const std::string unknown = unknown_engine_text(definitions.properties);
  if (!unknown.empty()) summary.engine = printable(unknown);
  summary.reached_depth = number_in(definitions, kReachedDepth);
  summary.profile_depth = number_in(definitions, kProfileDepth);
  return summary;
}

// Last, when the run is complete, because tools find the profile of a run by its extension. Returns
// the name that the spool asks for if it cannot be a file name.
std::string name_profile(const SpoolSource& source, const run::Directory& run) {
  if (source.profile_name().empty() || !run.holds(Item::kProfile)) return {};
  const auto name = run::ProfileName::of(source.profile_name());
  if (!name) return source.profile_name();
  run.rename_profile(*name);
  return {};
}

// Spools that processes have created since there were `known`.
std::size_t joined_since(const run::Directory& run, std::size_t known) {
  return std::max(spools_of(run).size(), known) - known;
}

void count_joined(WeaveSummary& summary, std::size_t joined) {
  summary.processes += joined;
  summary.running += joined;
}

void refuse_without_spools(const fs::path& run) {
  std::error_code error;
  if (is_woven(run)) {
    throw Error(run.string() + " has been woven already; open it with: timeloom report " +
                run.string() + " [TL215]");
  }
  refuse_unreadable(run);
  throw Error(run.string() +
              " holds no spool of a measurement; name the directory of a run that does [TL216]");
}

// The results of a run, not yet in their places.
struct Attempt {
  Attempt(const run::Directory& run, const std::vector<spool::SpoolDirectory>& spools,
          SpoolSource::RankResults rank_results, symbols::CodeNames& names,
          std::optional<bool> packed)
      : source(spools, rank_results, &names, nullptr, packed_ranks_of(run)), working(run) {
    if (packed) source.pack(*packed);
    note_unmeasured(source, run::unmeasured_in(run.path()));
    source.add_samples(names);
    const std::string memory = source.take_memory_file();
    if (!memory.empty()) working.get().write(Item::kMemory, memory);
    if (source.samples().empty()) return;
    working.get().write(Item::kSamples,
                        run::sample_text(source.samples().rows(source.definitions())));
    working.get().write(Item::kSingleSamples, source.take_sample_file());
    const auto lines = source.samples().lines(source.definitions());
    if (!lines.empty()) working.get().write(Item::kLines, run::line_text(lines));
  }

  SpoolSource source;
  WorkingDirectory working;
  Written written;
};

// If a conversion fails in an unforeseen way, the records are still there.
std::unique_ptr<Attempt> make_results(const run::Directory& run,
                                      const std::vector<spool::SpoolDirectory>& spools,
                                      const WeaveOptions& options) {
  using enum SpoolSource::RankResults;
  symbols::CodeNames names(options.symbols);
  const SpoolSource::RankResults ranks = options.packed       ? kIgnored
                                         : options.just_ended ? kJustMade
                                                              : kCompared;
  auto attempt = std::make_unique<Attempt>(run, spools, ranks, names, options.packed);
  try {
    attempt->written = write_results(attempt->source, attempt->working.get(), options);
    return attempt;
  } catch (const Error&) {
    if (!attempt->source.has_conversions()) throw;
  }
  attempt.reset();  // and its directory
  attempt = std::make_unique<Attempt>(run, spools, kIgnored, names, options.packed);
  attempt->written = write_results(attempt->source, attempt->working.get(), options);
  return attempt;
}

}  // namespace

WeaveSummary weave(const fs::path& path, const WeaveOptions& options) try {
  const run::Directory run = open_and_lock({path, options.run}, options.timeout);
  run.remove(Item::kWoven);  // from a weave that was interrupted at its end
  const std::vector<spool::SpoolDirectory> spools = spools_of(run);
  if (spools.empty()) refuse_without_spools(path);
  const std::unique_ptr<Attempt> attempt = make_results(run, spools, options);
  SpoolSource& source = attempt->source;
  const WorkingDirectory& working = attempt->working;
  const run::Layout& layout = layout_of(source);
  const std::size_t joined = joined_since(run, spools.size());
  const bool running = source.running() != 0 || options.more_ranks || joined != 0;
  const bool keep_spool =
      options.keep_spool || damaged(source) || running || source.maybe_running() != 0;
  if (layout.weaves(Item::kManifest)) {
    const run::Stage stage = running ? run::Stage::kRunning : run::Stage::kWoven;
    working.get().write(Item::kManifest, manifest_of(run, working.get(), keep_spool, stage));
  }
  if (running) mark_as_running(run);
  const bool syncs = !keep_spool && is_worth_a_sync(run);
  if (syncs) bring_to_disk(working.get());
  replace_results(working.get(), run, layout);
  WeaveSummary summary = summary_of(source, attempt->written.definitions);
  summary.throttled = std::move(attempt->written.throttled);
  summary.refused_profile_name = name_profile(source, run);
  count_joined(summary, joined);
  if (!running) mark_as_ended(run);
  if (!running && source.maybe_running() == 0) run::forget_job(run);
  if (!keep_spool) {
    if (syncs) run.sync();
    count_joined(summary, remove_woven_spools(run, spools.size()));
  }
  return summary;
} catch (const std::system_error& error) {
  std::error_code ignored;
  if (!fs::exists(path / run::name_of(Item::kSpool), ignored) &&
      !fs::exists(path / run::name_of(Item::kWoven), ignored)) {
    throw Error(path.string() + " was removed while it was woven [TL213]");
  }
  throw Error("cannot write to " + path.string() + ": " + error.code().message() +
              "; nothing recorded was lost, weave again: timeloom weave " + path.string() +
              " [TL214]");
}

}  // namespace timeloom::weave
