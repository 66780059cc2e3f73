// The settings and facts that all processes of a measured program share. A process passes them to
// its child processes in a file beside their spools (RUN/spool/settings).
//
// The file is a list of records `name=value`, each ended by a zero byte:
//
//   check=NUMBER          a checksum of the other records
//   version=TEXT          of the Timeloom that wrote them
//   TIMELOOM_NAME=value   a setting, or one rule; see Settings::as_records()
//   start=NUMBER          ProgramFacts::start_ns
//   property=NAME=VALUE   RunDescription, a record for each property
//   executable=TEXT
//   system-clock=on
//   filter-file=PATH      FilterSource
//   filter-text=TEXT      the last one: extends to the end of the file, zero bytes included
//
// Plain values and pure functions, for any thread. Whoever may write into the run may have
// changed the file: every value in it is checked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/known_directory.hpp"
#include "settings/settings.hpp"

namespace timeloom {

// The file of the setting filter-file, with its text at the start of the program.
struct FilterSource {
  std::string path;  // absolute; empty: no file
  std::string text;
};

// Descriptions of the run that its layout adds to the results.
struct RunDescription {
  std::map<std::string, std::string> properties;
  std::string executable;     // empty: this process's own
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
// The opposite of as_text(). Throws Error for a malformed text.
Inheritance inheritance_of(std::string_view text);

// The content of a file of settings: the version of Timeloom, then as_text().
std::string as_file(const Inheritance& inheritance);
// Writes and reads the file in the directory of the spools. It is written under another name and
// then renamed, so that it is never seen in part. Both throw Error; load_inheritance() also for a
// file of another version, a link, a file that is not regular, or one that is too large.
void save(const Inheritance& inheritance, const KnownDirectory& spools);
Inheritance load_inheritance(const KnownDirectory& spools);

}  // namespace timeloom
