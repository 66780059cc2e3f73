// A format that runs are converted to: one value for each folder src/formats/NAME, all of them in
// the table of tools/convert/convert_formats.cpp.
//
// Plain values. The functions of a format are called by one thread and throw Error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/event.hpp"
#include "exchange/destination.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::exchange {

enum class Weight : std::uint8_t { kTime, kVisits };

struct Options {
  std::string title;              // the run, as the user named it
  std::string creator;            // this program and its version
  Weight weight = Weight::kTime;  // for formats with one number a call path
  bool flat = false;              // a row a region in place of a row a call path
  unsigned threads = 1;           // that may read
  // The category of functions, where another tool has another word for it. Only for Perfetto.
  std::string_view functions = "function";
  // The run that is subtracted; nullptr: none. Only for formats that say `differences`.
  const profile::CallTree* before = nullptr;
};

struct Format {
  std::string_view name;    // as in --to
  std::string_view suffix;  // of files
  std::string_view opened_by;
  // Of the events of a run. nullptr: the format holds call paths alone.
  void (*of_events)(RunSource& run, const Options& options, Destination& out) = nullptr;
  // Of its call paths. nullptr: the format holds events alone, and a profile cannot become it.
  void (*of_paths)(const profile::CallTree& tree, const Options& options,
                   Destination& out) = nullptr;
  bool paths_first = false;   // of those with both: the call paths, unless events are asked for
  bool text = true;           // may be shown on a terminal
  bool differences = false;   // takes Options::before
  bool flat_table = false;    // takes Options::flat
  bool weights = false;       // takes Options::weight
  bool whole_stacks = false;  // its size grows with the square of their depth
  bool directory = false;     // several files in a directory, which the command itself writes
};

}  // namespace timeloom::exchange
