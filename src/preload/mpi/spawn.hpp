// Measures processes started by MPI_Comm_spawn in the run of their parents. Both sides compute the
// same identity for the communicator between them, without a message.
//
// A launcher passes its own environment to spawned processes, not the spawning process's. So their
// program is started through env(1), which sets kParentVariable and kSpawnVariable. Programs
// spawned by a program without Python are started through `timeloom run --program`. Any thread;
// throws nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/mpi/spawned.hpp"
#include "preload/mpi/mpi_library.hpp"

namespace timeloom::mpi {

// The spawn that started this process; nullptr: none.
const Spawn* own_spawn() noexcept;

// True if this process is measured and its children shall be measured, too.
bool is_followed() noexcept;

// One command of a spawn.
struct SpawnedCommand {
  const char* command = nullptr;
  char** arguments = nullptr;  // ended by nullptr; nullptr: none
  Handle info = 0;
};

// The commands of a spawn in the form passed to MPI. Commands that this machine does not find stay
// unchanged and are not measured: MPI would report the error, and env(1) would not.
class SpawnedCommands {
 public:
  // `identity`: of the spawn.
  explicit SpawnedCommands(std::uint64_t identity) noexcept : identity_(identity) {}
  // The result lives as long as this object.
  SpawnedCommand followed(const SpawnedCommand& given) noexcept;
  std::uint64_t identity() const noexcept { return identity_; }
  // The number of the spawn in the run; 0: none of its processes is measured.
  std::uint32_t number() const noexcept { return number_; }

 private:
  struct Line {
    std::vector<std::string> words;
    std::vector<char*> pointers;
  };
  std::uint64_t identity_;
  std::uint32_t number_ = 0;
  std::vector<std::unique_ptr<Line>> lines_;
};

// The arrays of MPI_Comm_spawn_multiple, with `commands` followed. Without memory they are the
// given ones. `all` outlives this object.
class SpawnedLists {
 public:
  SpawnedLists(SpawnedCommands& all, int count, char** commands, char*** arguments,
               const void* infos) noexcept;
  char** commands() noexcept {
    return given_commands_ != nullptr ? given_commands_ : commands_.data();
  }
  char*** arguments() noexcept {
    return given_commands_ != nullptr ? given_arguments_ : arguments_.data();
  }

 private:
  char** given_commands_ = nullptr;
  char*** given_arguments_ = nullptr;
  std::vector<char*> commands_;
  std::vector<char**> arguments_;
};

}  // namespace timeloom::mpi
