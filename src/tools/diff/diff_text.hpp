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

// Whether the lost parts of the runs cannot change that a region is too slow, or that it is not.
struct DiffCertainty {
  bool slower = true;
  bool not_slower = true;
  bool of(bool is_slower) const { return is_slower ? slower : not_slower; }
};

struct DiffTables {
  bool tree = true;  // the call paths
  bool flat = true;  // the regions
  std::optional<MemoryDiff> memory{};
};

void write_diff(const profile::Diff& diff, const DiffRuns& runs, const DiffTables& tables,
                const DiffRowOptions& options, const Terminal& terminal, Output& output);
// Each row that --fail-above has compared is a result.
CiReport ci_report_of(const std::vector<Compared>& compared, const DiffRuns& runs,
                      DiffCertainty certain);
void write_diff_json(const profile::Diff& diff, const DiffRuns& runs, const DiffTables& tables,
                     const DiffRowOptions& options, Output& output);

}  // namespace timeloom::tools
