#include "tools/run_facts.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/given_up.hpp"
#include "core/run_properties.hpp"
#include "core/shell_word.hpp"
#include "profile/call_tree.hpp"
#include "tools/text.hpp"

namespace timeloom::tools {

namespace {

// As one would type it, without the directories of the executable.
std::string program_of(const LocationGroup& group) {
  if (group.executable.empty()) return {};
  std::string line = group.executable.substr(group.executable.rfind('/') + 1);
  for (const std::string& argument : group.arguments) line += " " + shell_word(argument);
  return line;
}

// A number that weaving left among the properties; 0 without one.
std::uint64_t number(const Definitions& definitions, const char* key) {
  const auto found = definitions.properties.find(key);
  if (found == definitions.properties.end()) return 0;
  std::uint64_t value = 0;
  const std::string& text = found->second;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The repairs that the reader of the trace made.
void add_trace_losses(const Definitions& definitions, std::vector<std::string>& losses) {
  if (const auto damaged = number(definitions, "timeloom::otf2_damaged_files")) {
    losses.push_back(plural(damaged, "file") +
                     " of the trace damaged or cut off, and read up to there");
  }
  if (const auto missing = number(definitions, "timeloom::otf2_missing_events")) {
    losses.push_back(plural(missing, "event") + " missing from the files of the trace");
  }
  if (const auto closed = number(definitions, "timeloom::otf2_closed_regions")) {
    losses.push_back(plural(closed, "region") + " entered and never left; a leave was added");
  }
  if (const auto dropped = number(definitions, "timeloom::otf2_dropped_leaves")) {
    losses.push_back(plural(dropped, "leave event") + " without an enter, left out");
  }
  if (const auto moved = number(definitions, "timeloom::otf2_moved_events")) {
    losses.push_back(plural(moved, "event") +
                     " earlier than the one before; taken as simultaneous");
  }
  if (const auto undefined = number(definitions, "timeloom::otf2_undefined_events")) {
    losses.push_back(plural(undefined, "event") + " of what the trace does not define, left out");
  }
}

// Of a run that was killed it is not known how often its window came.
void add_window(const Definitions& definitions, std::vector<std::string>& losses) {
  const auto window = definitions.properties.find(kWindow);
  if (window == definitions.properties.end() || window->second.empty()) return;
  std::string text = "recorded was only " + window->second;
  if (definitions.properties.contains(kWindows)) {
    const std::uint64_t windows = number(definitions, kWindows);
    text += windows == 0 ? ": that never came" : ": " + plural(windows, "time");
  }
  losses.push_back(text);
}

std::vector<std::string> losses_of(const Definitions& definitions) {
  std::vector<std::string> losses;
  add_window(definitions, losses);
  const auto ending = definitions.properties.find("timeloom::ending");
  if (ending != definitions.properties.end() && !ending->second.empty()) {
    losses.push_back(ending->second);
  }
  if (const auto lost = number(definitions, "timeloom::lost_events")) {
    const bool limited = definitions.properties.contains("timeloom::size_limit");
    losses.push_back(plural(lost, "event") + " could not be recorded" +
                     (limited ? ": the run had reached its size limit" : ""));
  }
  if (const auto older = number(definitions, "timeloom::older_events")) {
    losses.push_back(plural(older, "older event") + " dropped at the size limit of the run");
  }
  if (const auto folded = number(definitions, kFoldedEvents)) {
    losses.push_back(plural(folded, "event") +
                     " after the size limit of the run, in the profile only");
  }
  if (const auto reached = number(definitions, kReachedDepth)) {
    losses.push_back(depth_warning(number(definitions, kProfileDepth), reached,
                                   run::layout_of(definitions.properties)));
  }
  if (const auto left_out = number(definitions, kEventsLeftOut)) {
    losses.push_back(plural(left_out, "event") + " of objects that are not code objects left out");
  }
  if (const auto unnamed = number(definitions, kUnnamedVisits)) {
    losses.push_back(plural(unnamed, "visit") +
                     " of functions whose names are lost, shown as (definition lost)");
  }
  if (const auto dropped = number(definitions, "timeloom::dropped_events")) {
    losses.push_back(plural(dropped, "event") + " left out because they were not sound");
  }
  if (const auto damaged = number(definitions, "timeloom::damaged_definitions")) {
    losses.push_back(plural(damaged, "damaged definition") + " left out");
  }
  if (const auto closed = number(definitions, "timeloom::closed_regions")) {
    losses.push_back(plural(closed, "region") + " still open at the end; closed at the last event");
  }
  if (const auto damaged = number(definitions, "timeloom::damaged_segments")) {
    losses.push_back(plural(damaged, "damaged part") + " of the recording left out");
  }
  if (const auto kept = number(definitions, "timeloom::kept_rewinds")) {
    losses.push_back(plural(kept, "rewind") +
                     " too long to discard anything; its events are there");
  }
  if (const auto unreadable = number(definitions, "timeloom::unreadable_spools")) {
    losses.push_back("the recording of " + plural(unreadable, "process") + " could not be read");
  }
  if (const auto children = number(definitions, kUnmeasuredProcesses)) {
    losses.push_back(plural(children, "Python process") + " not measured: --follow all");
  }
  if (const auto others = number(definitions, kSubInterpreters)) {
    losses.push_back(plural(others, "sub-interpreter") + " not recorded");
  }
  add_trace_losses(definitions, losses);
  return losses;
}

}  // namespace

std::string depth_warning(std::uint64_t limit, std::uint64_t reached, const run::Layout& layout) {
  return "the limit of " + plural(limit, "level") +
         " of call paths was exceeded. The deepest had " + plural(reached, "level") +
         ". Consider setting " + std::string(layout.depth_setting) + " to " +
         std::to_string(reached) + ".";
}

double seconds(std::uint64_t ticks, const Definitions& definitions) {
  return static_cast<double>(profile::signed_value(ticks)) /
         static_cast<double>(definitions.clock.ticks_per_second);
}

std::string name_of(const Location& location) { return display_name(location); }

std::vector<std::string> parameter_names(const Definitions& definitions) {
  std::vector<std::string> names;
  for (const Parameter& parameter : definitions.parameters) {
    if (std::ranges::find(names, parameter.name) == names.end()) names.push_back(parameter.name);
  }
  return names;
}

RunFacts facts_of(const Definitions& definitions) {
  RunFacts facts;
  if (!definitions.groups.empty()) {
    facts.program = program_of(definitions.groups.front());
    facts.host = definitions.groups.front().hostname;
  }
  facts.start = definitions.clock.realtime;
  facts.wall_seconds = seconds(definitions.clock.length, definitions);
  facts.processes = definitions.groups.size();
  for (const Location& location : definitions.locations) {
    facts.events += location.event_count;
    if (location.type != LocationType::kMetric) ++facts.threads;
  }
  facts.tasks = number(definitions, kTasks);
  facts.task_lanes = std::min(number(definitions, kTaskLanes), facts.threads);
  if (facts.task_lanes == 0) facts.tasks = std::min(facts.tasks, facts.threads);
  facts.threads -= facts.task_lanes > 0 ? facts.task_lanes : facts.tasks;
  const GivenUp given_up(definitions.properties);
  facts.given_up.assign(given_up.entries().begin(), given_up.entries().end());
  facts.cut_short.assign(given_up.cut_short().begin(), given_up.cut_short().end());
  facts.rested = given_up.rested();
  facts.observed_share = given_up.observed_share();
  facts.losses = losses_of(definitions);
  return facts;
}

}  // namespace timeloom::tools
