// The timelines of a run for formats that know processes and threads by their numbers.
//
// Plain values; nothing throws.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/definitions.hpp"

namespace timeloom::exchange {

struct Process {
  std::uint64_t id = 0;  // that of the operating system if no other process of the run has it
  std::string name;
  std::string command;
};

enum class TrackKind : std::uint8_t { kThread, kTask, kMetrics };

struct Track {               // of a location
  std::size_t process = 0;   // in Tracks::processes
  std::uint64_t thread = 0;  // as Process::id, in its process
  TrackKind kind = TrackKind::kThread;
  std::string name;
};

// Takes the numbers of their threads from tasks, so that they are known as tasks when a selection
// leaves out the threads.
void mark_tasks(Definitions& definitions);

struct Tracks {
  explicit Tracks(const Definitions& definitions);

  // REQUIRES: the location is one of the definitions.
  const Track& of(LocationId location) const;
  std::size_t index_of(LocationId location) const;

  std::vector<Process> processes;  // as the location groups; if there is none, one
  std::vector<Track> tracks;       // as the locations

 private:
  const std::vector<Location>* locations_;
};

}  // namespace timeloom::exchange
