// The table of the entries of a run directory: name, meaning, the tools that open it, and
// the commands that may overwrite or delete it. MANIFEST.md, `timeloom info`, --force and
// the weave read it; no other place lists these names. Constants and pure functions, for
// any thread; only name_of() throws, std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace timeloom::run {

// An entry of a run directory, by its row in the table.
enum class Item : std::uint8_t {
  kAnchor,
  kTraceDefinitions,
  kTraceMarkers,
  kTraceEvents,
  kPacked,
  kProfile,
  kSamples,
  kLines,
  kSingleSamples,
  kMemory,
  kCallpaths,
  kManifest,
  kSettings,
  kFilter,
  kSpool,
  kRunning,
  kUnmeasured,
  kWorking,
  kWoven,
  kViewIndex,
  kViewMarks,
  kViewMaking,
};

// The role of an entry, which decides who may overwrite or delete it. All entries but
// kCopy are removed when a run is replaced (--force) or discarded.
enum class Role : std::uint8_t {
  kResult,    // made by a weave, replaced by the next one
  kRaw,       // the recorded data; removed by the weave that has read all of it
  kSettings,  // identifies a directory as a run, so it is made first and removed last
  kCopy,      // of a file of the user; never overwritten or deleted
  kMark,      // in the directory of the spools
  kLeftOver,  // of a weave that was interrupted; removed by the next one
  kCache,     // made from the results by a command, to be quicker the next time
};

enum class Kind : std::uint8_t { kFile, kDirectory };

struct Entry {
  Item item;
  std::string_view name;
  Kind kind;
  Role role;
  std::string_view title;      // a few words, for `timeloom info`
  std::string_view opened_by;  // tools; empty: it is opened through another file
  std::string_view meaning;    // for the manifest of a run; empty: it is not listed there
  std::string_view overview;   // the same in the words of Score-P's manifest
  // Files of other tools with the same extension are of the same kind.
  bool known_by_extension = false;
};

// In the order in which a manifest lists them.
inline constexpr std::array kContents = {
    Entry{Item::kAnchor, "traces.otf2", Kind::kFile, Role::kResult, "OTF2 trace",
          "timeloom, otf2-print, Vampir",
          "anchor of the OTF2 trace; open it with `timeloom report`, Vampir or otf2-print",
          "OTF2 anchor file.", true},
    Entry{Item::kTraceDefinitions, "traces.def", Kind::kFile, Role::kResult,
          "definitions of the OTF2 trace", "", "definitions of the trace",
          "OTF2 global definitions file.", true},
    Entry{Item::kTraceMarkers, "traces.marker", Kind::kFile, Role::kResult,
          "markers of the OTF2 trace", "", "markers of the trace", ""},
    Entry{Item::kTraceEvents, "traces", Kind::kDirectory, Role::kResult, "events of the OTF2 trace",
          "", "events of the trace, one file for each thread",
          "Sub-directory containing per location trace\n"
          "                                data."},
    Entry{Item::kPacked, "traces.packed", Kind::kFile, Role::kResult, "packed trace", "timeloom",
          "events and definitions of the trace, packed; open it with `timeloom report`, or make an "
          "OTF2 trace of it: `timeloom convert --to otf2`",
          "Packed trace of Timeloom.", true},
    Entry{Item::kProfile, "profile.cubex", Kind::kFile, Role::kResult, "CUBE profile",
          "timeloom, Cube",
          "CUBE4 profile: call paths with visits and times; open it with `timeloom report`, "
          "`timeloom score` or Cube",
          "CUBE4 result file of the summary measurement.", true},
    Entry{Item::kSamples, "samples.csv", Kind::kFile, Role::kResult, "samples of CPU time",
          "timeloom report --native, any spreadsheet",
          "CPU time of samples by function and by function of the libraries below it; "
          "`timeloom report --native` shows it",
          "Samples of CPU time by function."},
    Entry{Item::kLines, "lines.csv", Kind::kFile, Role::kResult, "samples by source line",
          "timeloom report --lines, any spreadsheet",
          "CPU time of samples by source line; `timeloom report --lines` shows it",
          "Samples of CPU time by source line."},
    Entry{Item::kSingleSamples, "samples.timeloom", Kind::kFile, Role::kResult,
          "each sample with its thread and time", "timeloom",
          "each sample of CPU time with its thread and time; `timeloom report --thread`, `--from` "
          "and `--to` count them",
          "Samples of CPU time with thread and time."},
    Entry{
        Item::kMemory, "memory.timeloom", Kind::kFile, Role::kResult,
        "memory of each call path, with births and deaths of blocks", "timeloom view",
        "memory of each call path, and births and deaths of sampled blocks; `timeloom view` shows "
        "who held how much at an instant",
        "Memory by call path, with births and deaths of blocks."},
    // Written by older versions; a weave removes it.
    Entry{Item::kCallpaths, "callpaths.json", Kind::kFile, Role::kResult,
          "call-path profile of an older version", "", "", ""},
    Entry{Item::kManifest, "MANIFEST.md", Kind::kFile, Role::kResult, "what each file is",
          "any editor", "", "This manifest file."},
    Entry{Item::kSettings, "scorep.cfg", Kind::kFile, Role::kSettings, "settings used",
          "any editor", "the settings of the measurement",
          "Listing of used environment variables."},
    Entry{Item::kFilter, "scorep.filter", Kind::kFile, Role::kCopy, "filter file used",
          "any editor", "", "Copy of the applied filter file."},
    Entry{Item::kSpool, "spool", Kind::kDirectory, Role::kRaw, "recorded data, not woven yet",
          "timeloom weave", "the raw records; `timeloom weave` makes the trace of them", ""},
    // Some processes had not ended at the last weave.
    Entry{Item::kRunning, "running", Kind::kFile, Role::kMark, "", "", "", ""},
    // A byte for each Python process that was started, or sub-interpreter, and not measured.
    Entry{Item::kUnmeasured, "unmeasured", Kind::kFile, Role::kMark, "", "", "", ""},
    // The directory in which a weave writes its results.
    Entry{Item::kWorking, ".weaving", Kind::kDirectory, Role::kLeftOver,
          "left by a weave that was interrupted", "", "", ""},
    // A spool that is not needed any more.
    Entry{Item::kWoven, ".woven", Kind::kDirectory, Role::kLeftOver,
          "left by a weave that was interrupted", "", "", ""},
    // src/view names them, too: an index lies beside any archive.
    Entry{Item::kViewIndex, "view.timeloom", Kind::kFile, Role::kCache, "index of the viewer",
          "timeloom view", "", ""},
    Entry{Item::kViewMarks, "view.json", Kind::kFile, Role::kCache, "marks set in the viewer",
          "timeloom view", "", ""},
    Entry{Item::kViewMaking, ".view.timeloom", Kind::kFile, Role::kCache,
          "index of the viewer, not complete", "", "", ""},
};

// The results of a weave in the order in which they are put in place; they are removed in
// the opposite order. The anchor comes last: a directory of events without an anchor was
// left by an interrupted weave. A run without a trace is complete when it has its profile.
inline constexpr std::array kResults = {
    Item::kTraceEvents,   Item::kTraceDefinitions, Item::kTraceMarkers,
    Item::kCallpaths,     Item::kSamples,          Item::kLines,
    Item::kSingleSamples, Item::kMemory,           Item::kManifest,
    Item::kProfile,       Item::kPacked,           Item::kAnchor};

constexpr const Entry& entry(Item item) noexcept {
  return kContents[static_cast<std::size_t>(item)];
}

inline std::string name_of(Item item) { return std::string(entry(item).name); }

// The row of an entry of a run by its name and kind. Null: the table has none.
const Entry* find_entry(std::string_view name, Kind kind) noexcept;

namespace internal {

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kContents.size(); ++i) {
    if (static_cast<std::size_t>(kContents[i].item) != i) return false;
  }
  return true;
}

constexpr bool has_every_result() {
  std::size_t results = 0;
  for (const Entry& entry : kContents) results += entry.role == Role::kResult ? 1 : 0;
  for (const Item item : kResults) {
    if (entry(item).role != Role::kResult) return false;
  }
  return results == kResults.size();
}

static_assert(is_in_order(), "kContents and Item have to be in the same order");
static_assert(has_every_result(), "kResults has to name the results of kContents");

}  // namespace internal
}  // namespace timeloom::run
