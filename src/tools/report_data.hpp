// A report as JSON. docs/report.md describes it; its keys are stable.
//
// Used by one thread; throws Error when the output cannot be written.
#pragma once

#include <string>

#include "tools/output.hpp"
#include "tools/report_rows.hpp"
#include "tools/run_facts.hpp"

namespace timeloom::tools {

struct DataOptions {
  RowOptions rows;
  bool tree = true;
  bool flat = true;
};

void write_json(const ReportData& data, const RunFacts& facts, const std::string& run,
                const DataOptions& options, Output& output);

}  // namespace timeloom::tools
