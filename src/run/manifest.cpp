#include "run/manifest.hpp"

#include <algorithm>

#include "run/experiment_directory.hpp"

namespace timeloom::run {
namespace {

// A line of Score-P's manifest; the text begins in one column.
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

}  // namespace

std::string manifest_text(const std::set<Item>& items) {
  std::string text = "# A run measured by Timeloom\n\n| file | what it is |\n|---|---|\n";
  for (const Entry& entry : kContents) {
    if (entry.meaning.empty() || !items.contains(entry.item)) continue;
    text += "| " + std::string(entry.name) + " | " + std::string(entry.meaning) + " |\n";
  }
  return text;
}

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
