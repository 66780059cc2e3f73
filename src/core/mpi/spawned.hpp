// The variables that tell a process started by MPI_Comm_spawn to join the run of its parents. Pure
// functions, for any thread.
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/mpi/mpi_rank.hpp"

namespace timeloom {

// In the environment of processes that a measured one starts: the path of the parent's spool.
inline constexpr char kParentVariable[] = "TIMELOOM_PARENT";
// In the environment of spawned processes: the number of the spawn in the run.
inline constexpr char kSpawnVariable[] = "TIMELOOM_SPAWN";
// The directory of the spools of spawned processes, RUN/spool/spawned/NUMBER.
inline constexpr char kSpawnedName[] = "spawned";

// The property of the spool of a spawned process: the number of the spawn.
inline constexpr char kSpawn[] = "timeloom::spawn";

// The number in a property of a spool, kRank or kSpawn; none: the spool does not have it.
inline std::optional<std::uint32_t> number_of(const std::map<std::string, std::string>& properties,
                                              const char* key) {
  const auto found = properties.find(key);
  return found == properties.end() ? std::nullopt : rank_in(found->second);
}

// The name of a rank that was started by a spawn, or by the launcher if `spawn` is 0.
inline std::string name_of_mpi_rank(std::uint32_t rank, std::uint32_t spawn) {
  const std::string name = name_of_mpi_rank(rank);
  return spawn == 0 ? name : name + " of spawn " + std::to_string(spawn);
}

// RUN in the path RUN/spool/... of a spool; empty: the path is not in a run.
inline std::string run_of_spool(const std::string& spool) {
  const std::size_t end = spool.rfind("/spool/");
  return end == std::string::npos ? std::string() : spool.substr(0, end);
}

struct Spawn {
  std::uint32_t number = 0;    // in the run, from 1 on
  std::uint64_t identity = 0;  // spawn_identity() of src/preload/mpi: the same in all its ranks
};

inline std::string text_of(const Spawn& spawn) {
  return std::to_string(spawn.number) + "-" + std::to_string(spawn.identity);
}

// None: the text is malformed.
inline std::optional<Spawn> spawn_in(std::string_view text) {
  Spawn spawn;
  const char* const end = text.data() + text.size();
  const auto [middle, error] = std::from_chars(text.data(), end, spawn.number);
  if (error != std::errc{} || middle == end || *middle != '-' || spawn.number == 0) return {};
  const auto [stop, failed] = std::from_chars(middle + 1, end, spawn.identity);
  if (failed != std::errc{} || stop != end) return {};
  return spawn;
}

}  // namespace timeloom
