#include "tools/convert/convert_run.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/error.hpp"
#include "exchange/limited_depth.hpp"
#include "exchange/samples/sampled_run.hpp"
#include "profile/call_tree_sink.hpp"
#include "tools/convert/chosen_events.hpp"
#include "tools/convert/convert_formats.hpp"
#include "tools/run/open_run.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/samples/run_estimates.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/wrong_usage.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

namespace {

// The names of the formats that hold call paths, for whoever has nothing else.
std::string formats_of_paths() {
  std::string names;
  for (const exchange::Format* format : convert_formats()) {
    if (format->of_paths == nullptr) continue;
    names += (names.empty() ? "" : ", ") + std::string(format->name);
  }
  return names;
}

bool takes_events(const ConvertJob& job) {
  const exchange::Format& format = *job.format;
  if (job.content == Content::kEvents) return true;
  if (job.content != Content::kAny || format.of_events == nullptr) return false;
  if (format.of_paths == nullptr) return true;
  return !format.paths_first && weave::has_trace(job.run);
}

profile::CallTree folded_paths(RunSource& source, unsigned threads) {
  profile::CallTreeSink sink;
  const std::array<RunSink*, 1> sinks = {&sink};
  source.replay(sinks, threads);
  return sink.take();
}

// The samples between the first and the last event of the tree.
SamplePart samples_in(const profile::CallTree& tree) {
  const exchange::RunClock clock(tree.definitions.clock);
  SamplePart part{.from = UINT64_MAX, .until = 0};
  for (const profile::LocationProfile& location : tree.locations) {
    if (location.cells.empty()) continue;
    part.from = std::min(part.from, clock(location.first));
    part.until = std::max(part.until, clock(location.last));
  }
  return part;
}

// With the estimated times of throttled functions, which may have been called by functions that
// --only-my-code leaves out.
profile::CallTree estimated_paths(RunSource& trace, const std::filesystem::path& run,
                                  const exchange::Selection& selection, unsigned threads) {
  exchange::Selection all = selection;
  all.only_my_code = false;
  const std::unique_ptr<RunSource> chosen = exchange::select(trace, all, threads);
  profile::CallTree tree = folded_paths(*chosen, threads);
  add_estimates(tree, run, samples_in(tree));
  if (!selection.only_my_code) return tree;
  exchange::Selection mine;
  mine.only_my_code = true;
  return exchange::select(std::move(tree), mine);
}

// The call paths of the samples, with the CPU time that they stand for.
profile::CallTree sampled_paths(const ConvertJob& job) {
  ChosenEvents events(job.run, job.selection, true, job.options.threads);
  const std::unique_ptr<RunSource> samples = exchange::only_samples(events.source());
  return folded_paths(*samples, job.options.threads);
}

void check_samples(const ConvertJob& job) {
  const std::string name(job.format->name);
  if (takes_events(job) && !job.format->samples) {
    throw WrongUsage(name + " has no place for samples among its events; leave out --samples" +
                     (job.content == Content::kEvents ? ", --events or both" : "") + " [TL727]");
  }
  if (!weave::has_trace(job.run)) {
    throw Error(job.run.string() +
                " is a profile: its samples have no call paths; --samples needs a trace [TL728]");
  }
}

}  // namespace

void check_job(const ConvertJob& job, bool compared) {
  const exchange::Format& format = *job.format;
  const std::string name(format.name);
  if (job.content == Content::kEvents && format.of_events == nullptr) {
    throw WrongUsage(name + " holds call paths, not events; leave out --events [TL409]");
  }
  if (job.content == Content::kPaths && format.of_paths == nullptr) {
    throw WrongUsage(name + " holds events, not call paths; leave out --paths [TL409]");
  }
  if (job.content == Content::kFlat && !format.flat_table) {
    throw WrongUsage(name +
                     " has no table of regions; --flat goes with csv, json and arrow [TL409]");
  }
  if (compared && !format.differences) {
    throw WrongUsage(name + " holds one run; --before goes with collapsed [TL409]");
  }
  if (job.options.samples) check_samples(job);
  const bool profile_only = !weave::has_trace(job.run);
  if (profile_only && takes_events(job)) {
    throw Error(job.run.string() + " is a profile, which has no times of events, and " + name +
                (job.content == Content::kEvents ? " --events" : "") +
                " needs a trace; a profile becomes " + formats_of_paths() + " [TL411]");
  }
  if (profile_only && job.selection.window.any()) {
    throw Error(
        job.run.string() +
        " is a profile, which has no times of events: --from and --until need a trace [TL411]");
  }
}

profile::CallTree chosen_paths(const std::filesystem::path& run,
                               const exchange::Selection& selection, unsigned threads) {
  if (!selection.window.any()) {
    profile::CallTree tree = call_tree_of(run);
    return selection.everything() ? std::move(tree) : exchange::select(std::move(tree), selection);
  }
  const std::unique_ptr<RunSource> trace = weave::open_trace(weave::trace_of(run));
  if (lacks_estimates(trace->definitions(), run)) {
    return estimated_paths(*trace, run, selection, threads);
  }
  const std::unique_ptr<RunSource> chosen = exchange::select(*trace, selection, threads);
  return folded_paths(*chosen, threads);
}

std::vector<std::string> convert_run(const ConvertJob& job, exchange::Destination& out) {
  if (!takes_events(job)) {
    profile::CallTree tree = job.options.samples
                                 ? sampled_paths(job)
                                 : chosen_paths(job.run, job.selection, job.options.threads);
    std::vector<std::string> notes = facts_of(tree.definitions).losses;
    if (job.format->whole_stacks && exchange::limit_depth(tree)) {
      notes.push_back(formatted("stacks of {} end after {} calls with '(deeper calls)' [TL436]",
                                job.format->name, count(exchange::kMostFrames)));
    }
    job.format->of_paths(tree, job.options, out);
    return notes;
  }
  ChosenEvents events(job.run, job.selection, job.options.samples, job.options.threads);
  std::vector<std::string> left_out;
  exchange::Options options = job.options;
  options.notes = &left_out;
  job.format->of_events(events.source(), options, out);
  std::vector<std::string> notes = facts_of(events.definitions()).losses;
  std::ranges::move(left_out, std::back_inserter(notes));
  return notes;
}

}  // namespace timeloom::tools
