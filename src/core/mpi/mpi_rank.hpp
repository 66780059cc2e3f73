// The names of ranks: every reader of a run (our own, Score-P's and the tools that read its files)
// recognises a rank by them. Pure functions, for any thread.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/definitions.hpp"

namespace timeloom {

// The property of the spool of a rank: its number in the job of a launcher.
inline constexpr char kRank[] = "timeloom::rank";
// The property of the spool of a rank whose launcher does not use MPI, such as torchrun.
inline constexpr char kPlainRank[] = "timeloom::plain_rank";

// A rank with at least this many bytes of records converts its own events (weave/ranks/
// rank_weave.hpp). For fewer bytes, starting a process takes longer than weaving them later.
inline constexpr std::uint64_t kWorthConverting = 64 << 10;

inline std::string name_of_mpi_rank(std::uint32_t rank) {
  return "MPI Rank " + std::to_string(rank);
}

inline std::string name_of_plain_rank(std::uint32_t rank) { return "Rank " + std::to_string(rank); }

// None: the text is not a number, or the number is too large.
inline std::optional<std::uint32_t> rank_in(std::string_view text) {
  std::uint32_t rank = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, rank);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return rank;
}

// The rank of a process in a job of any launcher. None: the process is not a rank.
inline std::optional<std::uint32_t> job_rank_of(const LocationGroup& process) {
  const std::string_view name = process.alias.empty() ? process.name : process.alias;
  for (const std::string_view begin : {std::string_view("MPI Rank "), std::string_view("Rank ")}) {
    if (name.starts_with(begin)) return rank_in(name.substr(begin.size()));
  }
  return std::nullopt;
}

}  // namespace timeloom
