// `timeloom weave RUN`: turn the spools of a run into a trace and tables.

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <map>
#include <memory>

#include "core/error.hpp"
#include "core/known_directory.hpp"
#include "core/mpi/spawned.hpp"
#include "run/open_directory.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/door_tools.hpp"
#include "tools/report/findings/finding.hpp"
#include "tools/run/open_run.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/output.hpp"
#include "weave/ranks/rank_weave.hpp"
#include "weave/run.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

namespace {

std::string nothing_to_do(const std::filesystem::path& run, const weave::WeaveOptions& options) {
  std::string text = run.string() + " is woven already: nothing to do";
  if (options.packed && weave::has_trace(run) &&
      weave::is_packed(weave::trace_of(run)) != *options.packed) {
    text += *options.packed ? "; timeloom pack makes its trace a packed one"
                            : "; timeloom convert --to otf2 writes its trace as OTF2";
  }
  return text + "\n";
}

struct WeaveCommandOptions {
  std::string run;
  bool numbers = false;                  // asked for by the end of a program
  std::optional<std::uint32_t> convert;  // the same, of so many ranks: `run` is the spool of one
  std::string run_id;                    // the same: text_of() what the directory of the run is
  weave::WeaveOptions weave;
  std::optional<std::uint32_t> threads;
};

// For the program that has been measured; src/python/launch/end/weave_process.cpp reads it.
std::string numbers_of(const weave::WeaveSummary& summary) {
  constexpr double kMillion = 1e6;
  const auto millionths = [](double share) { return static_cast<std::uint64_t>(share * kMillion); };
  std::string text = "woven";
  for (const std::uint64_t number :
       {summary.events, summary.threads, summary.tasks, summary.processes, summary.running,
        summary.bytes, summary.lost_events, summary.older_events, summary.aggregated_events,
        millionths(summary.overhead.cpu), millionths(summary.overhead.wall),
        millionths(summary.overhead.cpu_error_range.least),
        millionths(summary.overhead.cpu_error_range.most), summary.unknown_costs}) {
    text += " " + std::to_string(number);
  }
  text += "\n";
  if (!summary.engine.empty()) text += "engine " + summary.engine + "\n";
  const std::string untimed = untimed_text(summary);
  return untimed.empty() ? text : text + "untimed " + untimed + "\n";
}

// The sentence of the first finding, for the summary; empty: there is none, the profile is so large
// that reading it would keep the user waiting, or the run so short that it is of little use.
std::string finding_in(const std::filesystem::path& run) try {
  constexpr std::uintmax_t kLargestProfile = 8 << 20;
  constexpr double kShortestRun = 1;  // seconds
  if (!weave::has_profile(run)) return {};
  if (std::filesystem::file_size(weave::profile_of(run)) > kLargestProfile) return {};
  const profile::CallTree tree = call_tree_of(run);
  const double seconds = facts_of(tree.definitions).wall_seconds;
  if (seconds < kShortestRun) return {};
  const Findings findings = find(tree, Answer(tree, {}), {}, seconds, Terminal{});
  return findings.empty() ? std::string() : printable(findings.front().text);
} catch (const std::exception&) {
  return {};  // a report prints the reason
}

// None: another rank's weave, for which this one has waited, has left nothing to do.
std::optional<weave::WeaveSummary> weave_at_end(const std::filesystem::path& run,
                                                weave::WeaveOptions options) try {
  options.timeout = weave::kTimeoutAtEnd;
  options.just_ended = true;
  return weave::weave(run, options);
} catch (const Error&) {
  if (weave::unfinished(run)) throw;
  return std::nullopt;
}

// A rank waits for the end of this process. The weave of the run does the rest of the work.
void end_within_limit() {
  constexpr unsigned kLongestSeconds = 3600;
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm, nullptr);  // the program may have blocked it
  ::alarm(kLongestSeconds);
}

void convert_spool(const std::string& spool, const os::DirectoryId& id, std::uint32_t ranks,
                   bool keep_log) {
  const std::string run = run_of_spool(spool);
  int error = run.empty() ? ENOENT : 0;
  KnownDirectory known;
  const KnownDirectory known_run(run, id);
  if (error == 0) known = known_run.below(spool.substr(run.size() + 1), &error);
  if (error != 0) throw Error("cannot open " + spool + ": " + reason_of(error) + " [TL211]");
  weave::weave_rank(known, ranks, 0, {known_run, keep_log});
}

void check_directories(const std::vector<std::string>& directories) {
  std::error_code ignored;
  for (const std::string& directory : directories) {
    if (!std::filesystem::is_directory(directory, ignored)) {
      throw Error("--symbols " + directory + ": there is no such directory [TL438]");
    }
  }
}

int run_weave(WeaveCommandOptions options) {
  options.weave.run = directory_id_in(options.run_id);
  if (options.convert) {
    end_within_limit();
    convert_spool(options.run, options.weave.run, *options.convert, options.weave.keep_spool);
    return kDone;
  }
  // No other directory that lies there by now is looked into.
  if (options.weave.run.known()) run::Directory::open({options.run, options.weave.run});
  const auto unfinished = weave::unfinished_run_of(options.run);
  const std::filesystem::path run = unfinished ? *unfinished : weave::find_run(options.run);
  Output output;
  check_directories(options.weave.symbols);
  const bool again = !options.weave.symbols.empty() && weave::has_spools(run);
  if (!weave::unfinished(run) && !again) {
    if (!options.weave.symbols.empty()) {
      throw Error(run.string() +
                  " is woven, and its raw records were removed: names of compiled "
                  "code cannot be looked up again; measure with --keep-spool [TL439]");
    }
    if (!options.numbers) weave::remove_leftovers(run);
    if (!options.numbers) output.write(nothing_to_do(run, options.weave));
  } else {
    options.weave.progress = isatty(STDERR_FILENO) == 1;
    if (options.threads) options.weave.threads = *options.threads;
    const std::optional<weave::WeaveSummary> summary =
        options.numbers ? weave_at_end(run, options.weave) : weave::weave(run, options.weave);
    if (!summary) return kDone;
    output.write(options.numbers ? numbers_of(*summary)
                                 : run.string() + ": " + describe(*summary) + "\n");
    const std::string finding = options.numbers ? finding_in(run) : std::string();
    if (!finding.empty()) output.write("finding " + finding + "\n");
    warn_of_depth(*summary);
    const DoorTools* door = door_of_layout(summary->layout->name);
    const bool own = options.numbers;
    if (door != nullptr && door->after_weave != nullptr) door->after_weave(run, own);
  }
  output.flush();
  return kDone;
}

}  // namespace

Command register_weave(CLI::App& program) {
  const auto options = std::make_shared<WeaveCommandOptions>();
  CommandOptions known(program, "weave", "Turn the records of an unfinished run into a trace");
  known.positional("RUN", options->run, "Run directory");
  known.flag("--keep-spool", options->weave.keep_spool,
             "Do not remove the recorded data afterwards");
  known.texts("--symbols", "DIR", options->weave.symbols,
              "Look for compiled code and its debug files in DIR, too (repeatable)");
  static const std::map<std::string, bool> kFormats = {{"otf2", false}, {"packed", true}};
  known.choice("--trace-format", options->weave.packed, kFormats,
               "otf2 or packed (default: as the program was run)");
  known.hidden_flag("--numbers", options->numbers);
  known.hidden_count("--convert", options->convert);
  known.hidden_text("--run-id", options->run_id);
  known.hidden_flag("--more-ranks", options->weave.more_ranks);
  known.count("--threads", "N", options->threads, {1, 65536, "a number of threads, 1 or more"},
              "Threads that weave (default: one a core)");
  return {known.app(), [options] { return run_weave(*options); }};
}

}  // namespace timeloom::tools
