// Processes that MPI_Comm_spawn starts: how they come to be measured in the run of their parents,
// and how both sides find the same identity for the communicator between them without a message.
//
// A launcher gives them its own environment, not that of the process that spawns. So their program
// is started by env(1), which sets kParentVariable and kSpawnVariable; what a program without
// Python spawns, by `timeloom run --program` in turn. Any thread; throws nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/mpi/spawned.hpp"
#include "preload/mpi/mpi_library.hpp"

namespace timeloom::mpi {

// The spawn that has started this process; nullptr: none.
const Spawn* own_spawn() noexcept;

// Whether this process is measured and wants what it starts to be, too.
bool is_followed() noexcept;

// One command of a spawn.
struct SpawnedCommand {
  const char* command = nullptr;
  char** arguments = nullptr;  // ended by nullptr; nullptr: none
  Handle info = 0;
};

// The commands of a spawn as they are handed to MPI. Commands that this machine does not find, so
// that MPI would say so and env(1) would not, stay as they are, and are not measured.
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

// The lists of MPI_Comm_spawn_multiple, with `commands` followed. Without memory they are the given
// ones. `all` outlives it.
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
