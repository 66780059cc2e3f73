// The timelines of a run, for formats that identify processes and threads by number.
//
// Plain values; throws only std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/definitions.hpp"

namespace timeloom::exchange {

struct Process {
  std::uint64_t id = 0;  // the operating system's id, unless another process of the run has it, too
  std::string name;
  std::string command;
};

enum class TrackKind : std::uint8_t { kThread, kTask, kMetrics };

struct Track {               // the timeline of a location
  std::size_t process = 0;   // in Tracks::processes
  std::uint64_t thread = 0;  // unique in its process, as Process::id is in the run
  TrackKind kind = TrackKind::kThread;
  std::string name;
};

// Gives tasks numbers other than their threads', so that they are known as tasks even if a
// selection leaves out the threads.
void mark_tasks(Definitions& definitions);

struct Tracks {
  explicit Tracks(const Definitions& definitions);

  // REQUIRES: the location is one of the definitions.
  const Track& of(LocationId location) const;
  std::size_t index_of(LocationId location) const;

  std::vector<Process> processes;  // one for each location group; at least one
  std::vector<Track> tracks;       // one for each location

 private:
  const std::vector<Location>* locations_;
};

}  // namespace timeloom::exchange
