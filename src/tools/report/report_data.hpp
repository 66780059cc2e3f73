// A report as JSON. docs/report.md describes it; its keys are stable.
//
// Used by one thread; throws Error when the output cannot be written.
#pragma once

#include <string>

#include "tools/report/findings/finding.hpp"
#include "tools/report/report_causes.hpp"
#include "tools/report/report_rows.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/output.hpp"

namespace timeloom::tools {

struct DataOptions {
  RowOptions rows;
  bool tree = true;
  bool flat = true;
};

// `causes`: of all waiting.
void write_json(const ReportData& data, const CauseTimes& causes, const Findings& findings,
                const RunFacts& facts, const std::string& run, const DataOptions& options,
                Output& output);

}  // namespace timeloom::tools
