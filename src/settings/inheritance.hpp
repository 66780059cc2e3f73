// Settings and facts that all processes of a measured program have in common. A process hands
// them to those that it starts, as a file beside their spools (RUN/spool/settings).
//
// The file is a list of records, each `name=value` and ended by a zero byte:
//
//   check=NUMBER          a checksum of the others
//   version=TEXT          of the Timeloom that has written them
//   TIMELOOM_NAME=value   a setting, or one rule; see Settings::as_records()
//   start=NUMBER          ProgramFacts::start_ns
//   property=NAME=VALUE   RunDescription, a record for each property
//   executable=TEXT
//   system-clock=on
//   filter-file=PATH      FilterSource
//   filter-text=TEXT      the last one: goes to the end of the file, whatever it holds
//
// Plain values and pure functions, for any thread. A file may have been changed by anybody
// who may write into the run: nothing in it is believed without a check.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/known_directory.hpp"
#include "settings/settings.hpp"

namespace timeloom {

// The file of the setting filter-file, as it was when the program began.
struct FilterSource {
  std::string path;  // absolute; empty: no file
  std::string text;
};

// A description of the run for its results, as the layout wants it.
struct RunDescription {
  std::map<std::string, std::string> properties;
  std::string executable;     // empty: the one that runs
  bool system_clock = false;  // rather than the processor's counter
};

// Facts of the start of a program, the same for all its processes.
struct ProgramFacts {
  std::uint64_t start_ns = 0;  // on CLOCK_MONOTONIC; 0: now
  FilterSource filter;
  RunDescription description;
};

struct Inheritance {
  Settings settings;
  ProgramFacts program;
};

std::string as_text(const Inheritance& inheritance);
// Throws Error for a text that as_text() does not make.
Inheritance inheritance_of(std::string_view text);

// The content of a file of settings: the version of Timeloom, then as_text().
std::string as_file(const Inheritance& inheritance);
// The file of the settings in the directory of the spools. It is written beside its place and put
// there whole. Both throw Error; load_inheritance() does for a file of another version, and for one
// that is no regular file or too large, or a link.
void save(const Inheritance& inheritance, const KnownDirectory& spools);
Inheritance load_inheritance(const KnownDirectory& spools);

}  // namespace timeloom
