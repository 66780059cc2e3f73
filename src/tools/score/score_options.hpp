// The command line of `timeloom score`, the same as scorep-score's.
//
// Plain values; parsing throws ScoreUsage.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace timeloom::tools {

enum class ScoreKey : std::uint8_t { kMaxBuffer, kTotalTime, kTimePerVisit, kVisits, kName };

// The regions that a generated filter leaves out.
struct FilterGeneration {
  double buffer_percent = 1;    // percent of the largest buffer, at least
  double buffer_megabytes = 0;  // at least
  std::uint64_t visits = 0;     // at least
  double time_per_visit = 1;    // microseconds at most
  bool user = true;             // of these types
  bool com = false;
  bool everything = false;                                       // whatever may be filtered
  std::string text = "bufferpercent=1,timepervisit=1,type=usr";  // as the user wrote it
};

struct ScoreOptions {
  bool help = false;
  bool regions = false;
  bool mangled = false;
  std::optional<std::string> filter;
  std::uint64_t counters = 0;
  ScoreKey key = ScoreKey::kMaxBuffer;
  std::optional<FilterGeneration> generation;
  std::string profile;
};

// Wrong usage, in one line.
struct ScoreUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string score_help();
ScoreOptions parse_score_options(const std::vector<std::string>& words);

}  // namespace timeloom::tools
