#include "run/manifest.hpp"

#include <algorithm>

#include "run/experiment_directory.hpp"

namespace timeloom::run {
namespace {

// A line of Score-P's manifest; all texts start in the same column.
std::string overview_line(std::size_t indent, Item item, std::string_view name) {
  constexpr std::size_t kColumn = 32;
  std::string line = std::string(indent, ' ') + "* `" + std::string(name);
  line += entry(item).kind == Kind::kDirectory ? "/` " : "` ";
  line.resize(std::max(line.size(), kColumn), ' ');
  return line + std::string(entry(item).overview) + "\n";
}

std::string overview_line(std::size_t indent, Item item) {
  return overview_line(indent, item, entry(item).name);
}

constexpr char kAlways[] =
    "# Experiment directory overview\n\n"
    "The result directory of this measurement should contain the following files:\n\n"
    "   1. Files that should be present even if the measurement aborted:\n\n";
constexpr char kCreated[] =
    "\n   2. Files that will be created by subsystems of the measurement core:\n";
constexpr char kVariables[] =
    "\n# List of Score-P variables that were explicitly set for this measurement\n\n"
    "The complete list of Score-P variables used, incl. current default values,\n"
    "can be found in `scorep.cfg`.\n\n";

constexpr char kUnfinishedExperiment[] =
    "\n# If there is a directory `spool` here\n\n"
    "The program is still running, or it was ended before the measurement could be\n"
    "finished. `spool` holds what was recorded. The next command of Timeloom that opens\n"
    "this directory, or a file that it is going to hold, makes the files above of it:\n\n"
    "    timeloom weave .\n";

std::string_view text_of(Stage stage) {
  switch (stage) {
    case Stage::kRecorded:
      return "The program is still running, or it was ended before its run could be finished.\n"
             "`spool` holds what was recorded; nothing of it is lost. The next command that opens\n"
             "this directory, or a file that it is going to hold (traces.otf2, profile.cubex),\n"
             "makes the trace and the profile of it:\n\n    timeloom weave .\n\n";
    case Stage::kRunning:
      return "Some processes had not ended when these files were made. The next command that\n"
             "opens this directory, or a file in it, makes them again:\n\n"
             "    timeloom weave .\n\n";
    case Stage::kWoven: break;
  }
  return {};
}

}  // namespace

std::string manifest_text(const std::set<Item>& items, Stage stage) {
  std::string text = "# A run measured by Timeloom\n\n" + std::string(text_of(stage)) +
                     "| file | what it is |\n|---|---|\n";
  for (const Entry& entry : kContents) {
    if (entry.meaning.empty() || !items.contains(entry.item)) continue;
    text += "| " + std::string(entry.name) + " | " + std::string(entry.meaning) + " |\n";
  }
  return text;
}

std::string_view unfinished_experiment_text() noexcept { return kUnfinishedExperiment; }

std::string experiment_manifest_text(const ExperimentOptions& options) {
  std::string text = kAlways;
  text += overview_line(6, Item::kManifest) + overview_line(6, Item::kSettings);
  if (!options.filter.empty()) text += overview_line(6, Item::kFilter);
  if (options.trace || options.profile) text += kCreated;
  if (options.trace) {
    text += "\n      * Tracing:\n\n";
    for (const Item item : {Item::kAnchor, Item::kTraceDefinitions, Item::kTraceEvents}) {
      text += overview_line(8, item);
    }
  }
  if (options.profile) {
    const std::string file =
        options.profile_name ? options.profile_name->file() : name_of(Item::kProfile);
    text += "\n      * Profiling:\n\n" + overview_line(8, Item::kProfile, file);
  }
  text += kVariables;
  for (const std::string& variable : options.variables) text += "    " + variable + "\n";
  return text;
}

}  // namespace timeloom::run
