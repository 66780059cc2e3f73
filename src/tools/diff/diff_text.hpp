// A comparison of two runs for people, and as JSON for programs.
//
// Used by one thread; throws Error when the output cannot be written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/ci/ci_report.hpp"
#include "tools/diff/diff_memory.hpp"
#include "tools/diff/diff_rows.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

struct DiffRuns {
  std::vector<std::string> before;  // their names
  std::vector<std::string> after;
  std::optional<DiffParts> parts;            // whose numbers differ
  std::vector<std::string> losses_before{};  // sentences, as in RunFacts
  std::vector<std::string> losses_after{};
};

struct DiffTables {
  bool tree = true;  // the call paths
  bool flat = true;  // the regions
  std::optional<MemoryDiff> memory{};
};

void write_diff(const profile::Diff& diff, const DiffRuns& runs, const DiffTables& tables,
                const DiffRowOptions& options, const Terminal& terminal, Output& output);
// `slow`: the regions slower than --fail-above `percent` allows; `certain`: the lost parts of the
// runs cannot change the answer.
CiReport ci_report_of(const std::vector<SlowDown>& slow, const DiffRuns& runs, double percent,
                      bool certain);
void write_diff_json(const profile::Diff& diff, const DiffRuns& runs, const DiffTables& tables,
                     const DiffRowOptions& options, Output& output);

}  // namespace timeloom::tools
