#include "tools/report/threads/report_threads.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "tools/report/answer_text.hpp"
#include "tools/report/report_text.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "weave/run.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

namespace {

constexpr double kLeastShare = 0.0005;  // of the time, of a number of threads that is printed
constexpr double kLeastUnknown = 1e-3;  // seconds of waiting that are printed
constexpr std::size_t kNames = 3;       // of threads that worked meanwhile

void write_shares(const Parallel& parallel, const Terminal& terminal, Output& output) {
  output.write(terminal.paint(" share  threads at work at once", Ink::kDim) + "\n");
  for (std::size_t i = 0; i < parallel.shares.size(); ++i) {
    if (parallel.shares[i] < kLeastShare) continue;
    output.write(formatted("{}  {}\n", pad_left(percent(parallel.shares[i]), 6), i));
  }
}

void write_rows(const Parallel& parallel, const Terminal& terminal, Output& output) {
  output.write("\n" + terminal.paint(
                          formatted("working waiting {}thread\n",
                                    parallel.has_causes ? pad_right("waits for", kCauseColumns + 1)
                                                        : std::string()),
                          Ink::kDim));
  bool idle = false;
  for (const ThreadRow& row : parallel.threads) {
    if (row.idle && !std::exchange(idle, true)) {
      output.write(terminal.paint("threads that had nothing to do:", Ink::kDim) + "\n");
    }
    AnswerLine line;
    line.numbers = formatted("{} {}", pad_left(duration(row.working, terminal), 7),
                             pad_left(duration(row.waiting, terminal), 7));
    if (parallel.has_causes) {
      line.numbers += " " + pad_right(main_cause(row.causes), kCauseColumns);
    }
    line.name = printable(row.name);
    output.write(drawn(line, terminal));
  }
}

// "MainThread 60%, worker-1 40%": parts of a time.
std::string names_text(const std::vector<HeldBack::By>& by, double all) {
  std::string names;
  for (std::size_t i = 0; i < std::min(kNames, by.size()); ++i) {
    const double share = by[i].seconds / all;
    if (share < 0.01) break;
    names +=
        (names.empty() ? "" : ", ") + printable(by[i].name) + formatted(" {:.0f}%", 100 * share);
  }
  return names;
}

std::string held_text(const HeldBack& held, const Terminal& terminal) {
  const char* const thing = held.cause == WaitingCause::kGil    ? "the GIL"
                            : held.cause == WaitingCause::kLock ? "locks"
                                                                : "a free processor";
  std::string text =
      formatted("held back: {} of waiting for {}", duration(held.waiting, terminal, " "), thing);
  const std::string names = names_text(held.by, held.waiting);
  return names.empty() ? text : text + ", while these worked: " + names;
}

std::string collections_text(const Collections& all, const Terminal& terminal) {
  const std::string names = names_text(all.by, all.seconds);
  return formatted(
      "held back: {} took {} (longest {}){}; no other thread of the same interpreter "
      "ran Python meanwhile",
      plural(all.count, "collection") + " of garbage", duration(all.seconds, terminal, " "),
      duration(all.longest, terminal, " "), names.empty() ? "" : ", in " + names);
}

constexpr char kWay[] = "timeloom run --causes records for what threads wait";

// The waiting of which no line tells the cause, and the way to learn it.
void write_unknown(const Parallel& parallel, const Terminal& terminal, Output& output) {
  if (parallel.unknown >= kLeastUnknown) {
    output.write(duration(parallel.unknown, terminal, " ") + " of waiting: no known cause" +
                 (parallel.has_causes ? "" : formatted("; {}", kWay)) + "\n");
  } else if (!parallel.has_causes) {
    output.write("\n" + terminal.paint(kWay, Ink::kDim) + "\n");
  }
}

}  // namespace

void write_threads(const Parallel& parallel, const std::vector<std::string>& losses,
                   const Terminal& terminal, Output& output) {
  write_losses(losses, terminal, output);
  const auto idle = std::ranges::count_if(parallel.threads, &ThreadRow::idle);
  const std::size_t busy = parallel.threads.size() - static_cast<std::size_t>(idle);
  output.write(formatted("{:.2f} of {} worked at once, on average over {}{}\n\n", parallel.average,
                         plural(busy, "thread") + (parallel.has_tasks ? " (tasks included)" : ""),
                         duration(parallel.seconds, terminal, " "),
                         idle == 0 ? "" : formatted("; {} more had nothing to do", idle)));
  write_shares(parallel, terminal, output);
  write_rows(parallel, terminal, output);
  const bool collects = parallel.collections.seconds > 0;
  const bool unknown = busy > 1 && parallel.unknown >= kLeastUnknown;
  if (!parallel.held.empty() || collects || unknown) output.write("\n");
  for (const HeldBack& held : parallel.held) output.write(held_text(held, terminal) + "\n");
  if (collects) output.write(collections_text(parallel.collections, terminal) + "\n");
  if (busy > 1) write_unknown(parallel, terminal, output);
}

void write_threads_json(const Parallel& parallel, const std::vector<std::string>& losses,
                        Output& output) {
  using nlohmann::ordered_json;
  ordered_json all = {{"format", "timeloom-report-threads"}, {"version", 1}};
  all["losses"] = losses;
  all["wall_s"] = parallel.seconds;
  all["average"] = parallel.average;
  all["shares"] = parallel.shares;
  all["measured"] = parallel.measured;
  all["has_causes"] = parallel.has_causes;
  all["threads"] = ordered_json::array();
  for (const ThreadRow& row : parallel.threads) {
    all["threads"].push_back({{"name", row.name},
                              {"location", row.location.value()},
                              {"working_s", row.working},
                              {"waiting_s", row.waiting},
                              {"idle", row.idle},
                              {"waiting_causes_s", causes_json(row.causes)}});
  }
  all["unknown_waiting_s"] = parallel.unknown;
  all["held_back"] = ordered_json::array();
  for (const HeldBack& held : parallel.held) {
    ordered_json by = ordered_json::array();
    for (const HeldBack::By& one : held.by) {
      by.push_back({{"thread", one.name}, {"seconds", one.seconds}});
    }
    all["held_back"].push_back({{"cause", kCauseWords[static_cast<std::size_t>(held.cause)]},
                                {"waiting_s", held.waiting},
                                {"by", std::move(by)}});
  }
  const Collections& collections = parallel.collections;
  all["collections"] = {{"count", collections.count},
                        {"total_s", collections.seconds},
                        {"longest_s", collections.longest},
                        {"by", ordered_json::array()}};
  for (const HeldBack::By& one : collections.by) {
    all["collections"]["by"].push_back({{"thread", one.name}, {"seconds", one.seconds}});
  }
  output.write(json_text(all, 2) + "\n");
}

// How many threads worked at the same time is in a trace only.
void print_threads(const std::filesystem::path& run,
                   const std::function<std::set<LocationId>(const Definitions&)>& chosen, bool json,
                   ColourMode colour) {
  if (!weave::has_trace(run)) {
    throw Error(run.string() +
                " has a profile and no trace, so the times at which its threads worked are not "
                "known; timeloom run without --profile makes a trace, report --by thread prints "
                "the sums [TL148]");
  }
  const std::unique_ptr<RunSource> source = weave::open_trace(weave::trace_of(run));
  ThreadTimes times(chosen(source->definitions()));
  const std::array<RunSink*, 1> sinks = {&times};
  source->replay(sinks, std::max(1u, std::thread::hardware_concurrency()));
  const std::vector<std::string> losses = facts_of(source->definitions()).losses;
  Output output;
  json ? write_threads_json(times.parallel(), losses, output)
       : write_threads(times.parallel(), losses, Terminal::detect(colour), output);
  output.flush();
}

}  // namespace timeloom::tools
