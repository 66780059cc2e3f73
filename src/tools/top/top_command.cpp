// `timeloom top`: what a running program does now, in the terminal.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "core/error.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/run/open_run.hpp"
#include "tools/top/look.hpp"
#include "weave/live_run.hpp"
#include "weave/run.hpp"

namespace timeloom::tools {

namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

constexpr double kUsualInterval = 2;
constexpr double kLeastPause = 4;  // of the time that a look takes: it reads all records

struct TopOptions {
  std::optional<std::string> run;
  std::optional<double> interval;
  std::optional<std::uint32_t> looks;
  bool json = false;
  ColourMode colour = ColourMode::kAuto;
};

[[noreturn]] void refuse_ended(const fs::path& run) {
  throw Error(run.string() + " is not recorded any more; open it with: timeloom report " +
              run.string() + " [TL092]");
}

// On a terminal each look takes the place of the one before.
void write(const Look& before, const Look& after, const fs::path& run, const TopOptions& options) {
  Output output;
  if (options.json) {
    write_look_json(before, after, run.string(), output);
  } else {
    constexpr char kHomeAndClear[] = "\033[H\033[J";
    output.write(::isatty(1) == 1 ? kHomeAndClear : before.length > 0 ? "\n" : "");
    write_look(before, after, Terminal::detect(options.colour), output);
  }
  output.flush();
}

int watch(const TopOptions& options) {
  const std::optional<std::string> name = run_or_process(options.run);
  const fs::path run = weave::find_run(name ? std::optional<fs::path>(*name) : std::nullopt);
  const double interval = options.interval.value_or(kUsualInterval);
  Look before;
  for (std::uint32_t done = 0;; ++done) {
    const auto start = std::chrono::steady_clock::now();
    // One thread: the program needs the other processors.
    const std::optional<weave::LiveRun> live = weave::read_live(run, 1);
    if (!live && done == 0) refuse_ended(run);
    const bool ended = !live || (live->running == 0 && live->maybe_running == 0);
    if (live) {
      Look after = look_at(live->tree, Terminal::detect(options.colour));
      write(before, after, run, options);
      before = std::move(after);
    }
    if (ended) {
      print_line("next: timeloom report " + run.string());
      break;
    }
    if (done + 1 == options.looks) break;
    const Seconds taken = std::chrono::steady_clock::now() - start;
    std::this_thread::sleep_for(Seconds(std::max(interval, kLeastPause * taken.count())) - taken);
  }
  return kDone;
}

}  // namespace

Command register_top(CLI::App& program) {
  const auto options = std::make_shared<TopOptions>();
  CommandOptions known(program, "top",
                       "Watch a running program: functions, threads, memory, findings");
  known.positional("RUN|PID", options->run,
                   "Run directory, or a measured process (default: the newest run of the folder)");
  known.number("--interval", "SECONDS", options->interval, {0.1, 3600, "seconds from 0.1 to 3600"},
               "Time between two looks (2); longer where a look takes long");
  known.count("--looks", "N", options->looks, {1, 1e9, "a number of looks, 1 or more"},
              "End after this number of looks (default: with the program)");
  known.flag("--json", options->json, "Print a line of JSON for each look");
  known.colour(options->colour);
  return {known.app(), [options] { return watch(*options); }};
}

}  // namespace timeloom::tools
