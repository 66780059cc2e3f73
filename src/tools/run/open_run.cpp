#include "tools/run/open_run.hpp"

#include <unistd.h>
#include <cerrno>

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "core/text/message_id.hpp"
#include "core/throttled.hpp"
#include "formats/cube/cube_profile.hpp"
#include "profile/call_tree_sink.hpp"
#include "tools/door_tools.hpp"
#include "tools/run/run_losses.hpp"
#include "tools/text/human_text.hpp"
#include "weave/live_run.hpp"
#include "weave/trace/trace_files.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

namespace {

profile::CallTree aggregate(const fs::path& trace) {
  const std::unique_ptr<RunSource> source = weave::open_trace(trace);
  profile::CallTreeSink sink;
  const std::array<RunSink*, 1> sinks = {&sink};
  source->replay(sinks, std::max(1u, std::thread::hardware_concurrency()));
  return sink.take();
}

// Files that a reading of the events finds cut off. Other tools may write fewer files, or end them
// in other ways.
void note_cut_files(const fs::path& trace, Definitions& definitions) {
  if (weave::is_packed(trace) || !definitions.creator.starts_with("Timeloom ")) return;
  const std::size_t files = weave::unsound_parts(trace, definitions.locations);
  if (files > 0) definitions.properties["timeloom::otf2_damaged_files"] = std::to_string(files);
}

void note_unsound_files(const fs::path& trace, Definitions& definitions) {
  const std::size_t files = weave::unsound_parts(trace, definitions.locations);
  if (files > 0) definitions.properties[kUnsoundTraceFiles] = std::to_string(files);
}

// An OTF2 trace without its anchor, by which it is opened, or a link in the place of a trace, which
// is not followed.
bool has_rest_of_trace(const fs::path& run) {
  std::error_code error;
  const auto is_link = [&](run::Item item) {
    return fs::is_symlink(run / run::name_of(item), error);
  };
  return !weave::has_trace(run) &&
         (fs::exists(run / run::name_of(run::Item::kTraceDefinitions), error) ||
          fs::exists(run / run::name_of(run::Item::kTraceEvents), error) ||
          is_link(run::Item::kAnchor) || is_link(run::Item::kPacked));
}

void note_lost_anchor(const fs::path& run, Definitions& definitions) {
  if (has_rest_of_trace(run)) definitions.properties[kUnsoundTraceFiles] = "1";
}

// Of a trace that cannot be opened, such as one whose anchor was emptied. False: there is no
// profile to read instead.
bool note_unread_trace(const fs::path& run, const Error& error) {
  if (!fs::is_directory(run) || !weave::has_profile(run)) return false;
  print_line(std::string(without_id(error.what())) + "; the profile is read instead [TL444]");
  return true;
}

// The profile beside the trace if it was woven with it, which the trace's id in it shows. Profiles
// of Score-P, which may hold less than the trace beside them, do not.
std::optional<profile::CallTree> profile_woven_with(const fs::path& trace) {
  const fs::path directory = trace.parent_path();
  const std::uint64_t id = weave::trace_id(trace);
  if (id == 0 || !weave::has_profile(directory)) return {};
  try {
    const cube::Reader profile(weave::profile_of(directory));
    if (cube::trace_id_of(profile) != id) return {};
    profile::CallTree tree = cube::load(profile);
    note_unsound_files(trace, tree.definitions);
    return tree;
  } catch (const Error& error) {
    print_line(std::string(without_id(error.what())) + "; the trace is read instead [TL268]");
    return {};
  }
}

Definitions definitions_of_profile(const fs::path& run) {
  const cube::Reader profile(weave::profile_of(run));
  Definitions definitions = cube::definitions_of(profile);
  // Other tools do not write how long the run was; the call paths show it.
  if (definitions.clock.length == 0) definitions.clock = cube::load(profile).definitions.clock;
  return definitions;
}

void weave_now(const fs::path& run) {
  weave::WeaveOptions options;
  options.progress = isatty(STDERR_FILENO) == 1;
  const weave::WeaveSummary summary = weave::weave(run, options);
  print_line(run.string() + " was unfinished, woven now: " + describe(summary) + " [TL266]");
  warn_of_depth(summary);
  const DoorTools* door = door_of_layout(summary.layout->name);
  if (door == nullptr || door->files_note == nullptr) return;
  if (const std::string note = door->files_note(run); !note.empty()) print_line(note);
}

}  // namespace

void print_line(const std::string& line) {
  // As it was called: a door that has weaving done has it speak in its name.
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, printable(line).c_str());
}

std::string untimed_text(const weave::WeaveSummary& summary) {
  if (!summary.observed_share.empty()) {
    return seen_text(
        ThrottledFunctions({{kObservedShare, summary.observed_share}}).observed_share());
  }
  constexpr std::size_t kMostShown = 5;
  const auto& all = summary.throttled;
  if (all.empty()) return {};
  std::string text = "not timed to the end: ";
  for (std::size_t i = 0; i < std::min(all.size(), kMostShown); ++i) {
    text += (i == 0 ? "" : ", ") + printable(all[i].name);
    if (all[i].visits > 0) text += " after " + plural(all[i].visits, "visit");
  }
  if (all.size() > kMostShown) {
    text += " and " + plural(all.size() - kMostShown, "other") + " (timeloom info)";
  }
  return text;
}

std::string describe(const weave::WeaveSummary& summary) {
  std::string line = plural(summary.events, "event") + " of " +
                     threads_and_tasks(summary.threads, summary.tasks, summary.task_lanes) +
                     " in " + plural(summary.processes, "process");
  if (!summary.engine.empty()) line += ", " + summary.engine;
  if (summary.lost_events > 0) {
    line += ", " + plural(summary.lost_events, "event") + " could not be recorded";
  }
  if (summary.older_events > 0) {
    line += ", " + plural(summary.older_events, "older event") + " dropped at the size limit";
  }
  if (summary.aggregated_events > 0) {
    line += ", " + plural(summary.aggregated_events, "event") + " in the profile only";
  }
  if (const std::string untimed = untimed_text(summary); !untimed.empty()) line += ", " + untimed;
  if (!summary.ending.empty()) line += ", " + summary.ending;
  if (summary.closed_regions > 0) {
    line += ", " + plural(summary.closed_regions, "region") + " cut off by the end of the program";
  }
  if (summary.maybe_running > 0) {
    line += ", " + plural(summary.maybe_running, "process") +
            " may still run on another machine or in another container; the recording is kept in "
            "spool/";
  }
  if (summary.foreign_segments > 0) {
    line += ", " + plural(summary.foreign_segments, "part") +
            " of other recordings left out; the recording is kept in spool/";
  }
  if (summary.damaged_segments > 0) {
    line += ", " + plural(summary.damaged_segments, "damaged part") +
            " left out; the recording is kept in spool/";
  }
  if (summary.unnamed_code > 0) {
    line += ", no names for " + plural(summary.unnamed_code, "region") +
            " of compiled code: no symbols were found (--symbols)";
  }
  if (!summary.refused_profile_name.empty()) {
    line += ", the profile is " + run::name_of(run::Item::kProfile) + " since '" +
            printable(summary.refused_profile_name) + "' is not a name for a file";
  }
  return line;
}

void warn_of_depth(const weave::WeaveSummary& summary) {
  if (summary.reached_depth == 0) return;
  print_line(depth_warning(summary.profile_depth, summary.reached_depth, *summary.layout));
}

fs::path open_run(const std::optional<std::string>& name) {
  std::optional<fs::path> path;
  if (name) path = *name;
  if (const auto unfinished = path ? weave::unfinished_run_of(*path) : std::nullopt) {
    weave_now(*unfinished);
  }
  fs::path run = weave::find_run(path);
  if (const std::string owner = weave::other_owner(run); !name && !owner.empty()) {
    print_line("no run of this directory is yours; this is " + run.string() + " of " + owner +
               " [TL267]");
  }
  if (weave::unfinished(run)) {
    weave_now(run);
  } else {
    weave::remove_leftovers(run);
  }
  return run;
}

std::optional<std::string> run_or_process(const std::optional<std::string>& name) {
  constexpr std::size_t kLongest = 9;
  std::error_code ignored;
  const bool is_number = name && !name->empty() && name->size() <= kLongest &&
                         std::ranges::all_of(*name, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || fs::exists(*name, ignored)) return name;
  if (const auto run = weave::run_of_process(std::stoull(*name))) return run->string();
  throw Error("process " + *name +
              " is not measured by Timeloom, or belongs to another user; start it with timeloom "
              "run, or measure it with timeloom attach [TL094]");
}

Definitions definitions_of(const fs::path& run) {
  if (!weave::has_trace(run)) {
    Definitions definitions = definitions_of_profile(run);
    note_lost_anchor(run, definitions);
    return definitions;
  }
  try {
    const fs::path trace = weave::trace_of(run);
    Definitions definitions = weave::open_trace(trace)->definitions();
    note_cut_files(trace, definitions);
    return definitions;
  } catch (const Error& error) {
    if (!note_unread_trace(run, error)) throw;
    Definitions definitions = definitions_of_profile(run);
    definitions.properties[kUnsoundTraceFiles] = "1";
    return definitions;
  }
}

Definitions definitions_beside(const cube::Reader& profile, const fs::path& directory) {
  Definitions definitions = cube::definitions_of(profile);
  const std::uint64_t id = cube::trace_id_of(profile);
  try {
    if (id == 0) return definitions;
    note_lost_anchor(directory, definitions);
    if (!weave::has_trace(directory)) return definitions;
    const fs::path trace = weave::trace_of(directory);
    if (weave::trace_id(trace) == id) note_unsound_files(trace, definitions);
  } catch (const Error&) {
    // The trace is not needed here.
  }
  return definitions;
}

profile::CallTree call_tree_of(const fs::path& run) {
  if (!weave::has_trace(run)) {
    profile::CallTree tree = cube::load(weave::profile_of(run));
    note_lost_anchor(run, tree.definitions);
    return tree;
  }
  try {
    const fs::path trace = weave::trace_of(run);
    std::optional<profile::CallTree> tree = profile_woven_with(trace);
    return tree ? std::move(*tree) : aggregate(trace);
  } catch (const Error& error) {
    if (!note_unread_trace(run, error)) throw;
    profile::CallTree tree = cube::load(weave::profile_of(run));
    tree.definitions.properties[kUnsoundTraceFiles] = "1";
    return tree;
  }
}

}  // namespace timeloom::tools
