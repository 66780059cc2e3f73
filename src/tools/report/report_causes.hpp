// Waiting by its cause: from what a run has seen of its waiting threads, and from the names of the
// functions that waited.
//
// Plain values and functions, for any thread. Only the writing function throws Error.
#pragma once

#include <array>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/waiting/cause_names.hpp"
#include "core/waiting_metric.hpp"
#include "profile/call_tree.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// Seconds by cause.
struct CauseTimes {
  std::array<double, kWaitingCauses> seconds{};

  double& operator[](WaitingCause cause) { return seconds[static_cast<std::size_t>(cause)]; }
  double operator[](WaitingCause cause) const { return seconds[static_cast<std::size_t>(cause)]; }
  CauseTimes& operator+=(const CauseTimes& other);
  double all() const;
};

// The waiting of each node by cause; `waiting`: the seconds that each node waited, which its causes
// add up to. A cause that was seen counts; where none was, and where the name tells more than the
// system does, the name of the function counts.
std::vector<CauseTimes> causes_of_nodes(const profile::CallTree& tree,
                                        const profile::LocationFilter& filter,
                                        const std::vector<double>& waiting);

// "lock 60%, I/O 20%": the largest first, those under 1 % left out.
std::string cause_shares(const CauseTimes& causes);
// "lock", or "lock 72%" where it is not nearly all; at most kCauseColumns wide.
inline constexpr std::size_t kCauseColumns = 13;
std::string main_cause(const CauseTimes& causes);
nlohmann::ordered_json causes_json(const CauseTimes& causes);

// Printed where much of the time passed without a free processor; empty: it did not. `all`:
// seconds of work and waiting.
std::string busy_machine(const CauseTimes& causes, double all, const Definitions& definitions);

// A line with the waiting of a run by cause, below its tables.
void write_causes(const CauseTimes& causes, const Terminal& terminal, Output& output);

}  // namespace timeloom::tools
