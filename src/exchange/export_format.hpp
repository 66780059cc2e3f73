// A format that runs can be converted to: one value for each folder src/formats/NAME. The table in
// tools/convert/convert_formats.cpp lists them all.
//
// Plain values. The functions of a format are called by one thread and throw Error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/event.hpp"
#include "exchange/destination.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::exchange {

// The number that formats with one number for each call path show. A run may lack the last five,
// see PathValues.
enum class Weight : std::uint8_t {
  kTime,
  kVisits,
  kWork,
  kWaiting,
  kAllocated,
  kHeldAtPeak,
  kHeldAtEnd
};

struct Options {
  std::string title;              // the run, as the user named it
  std::string creator;            // this program and its version
  Weight weight = Weight::kTime;  // for formats with one number per call path
  bool samples = false;           // the run has its samples (exchange/samples/sampled_run.hpp)
  bool flat = false;              // a row per region instead of a row per call path
  unsigned threads = 1;           // number of threads that may read
  // The category of functions, where another tool uses another word for it. Only for Perfetto.
  std::string_view functions = "function";
  // The run that is subtracted; nullptr: none. Only for formats with `differences`.
  const profile::CallTree* before = nullptr;
  // Sentences about what the format left out, for the user; nullptr: nobody reads them.
  std::vector<std::string>* notes = nullptr;
  void note(std::string text) const {
    if (notes != nullptr) notes->push_back(std::move(text));
  }
};

struct Format {
  std::string_view name;    // as in --to
  std::string_view suffix;  // of files
  std::string_view opened_by;
  // Writes the events of a run. nullptr: the format holds call paths only.
  void (*of_events)(RunSource& run, const Options& options, Destination& out) = nullptr;
  // Writes the call paths of a run. nullptr: the format holds events only, and a profile cannot be
  // converted to it.
  void (*of_paths)(const profile::CallTree& tree, const Options& options,
                   Destination& out) = nullptr;
  bool paths_first = false;   // for formats with both: call paths are the default
  bool text = true;           // may be shown on a terminal
  bool differences = false;   // takes Options::before
  bool flat_table = false;    // takes Options::flat
  bool weights = false;       // takes Options::weight
  bool samples = false;       // of_events takes Options::samples; of_paths needs nothing for it
  bool whole_stacks = false;  // its size grows with the square of the stack depth
  bool directory = false;     // several files in a directory, written by the convert command
};

}  // namespace timeloom::exchange
