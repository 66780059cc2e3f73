// A report as text for people: a headline, the call tree, the flat table.
//
// Fits the width of the terminal: columns of numbers are left out where there
// is no room for them (never cut), names are shortened. Used by one thread;
// throws Error when the output cannot be written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/report/report_rows.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// Program, wall time, threads, events; losses; the run.
void write_headline(const RunFacts& facts, const std::string& run, const Terminal& terminal,
                    Output& output);

// A line with "!" for each loss, which stands above all tables of a run.
void write_losses(const std::vector<std::string>& losses, const Terminal& terminal, Output& output);

// A line with "+" if much of the CPU time of the run is in none of its tables.
void write_other_cpu(const RunFacts& facts, const Terminal& terminal, Output& output);

// `scope` names the threads that are counted: "5 threads".
void write_tree(const ReportData& data, const RowOptions& options, const std::string& scope,
                const Terminal& terminal, Output& output);
void write_flat(const ReportData& data, const RowOptions& options, const std::string& scope,
                const Terminal& terminal, Output& output);

// The totals of the metric of --metric.
void write_metric(const ReportData& data, const Terminal& terminal, Output& output);

// The legend of the tables; the last lines of a report. `estimated`: whether some times are
// estimates.
void write_legend(bool tree, bool estimated, const std::optional<CallCost>& cost,
                  const Terminal& terminal, Output& output);

}  // namespace timeloom::tools
