// The options of `timeloom report`.
//
// Plain values. Used by one thread; nothing here throws but std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/command_options.hpp"
#include "tools/report/report_by.hpp"
#include "tools/report/report_data.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

struct ReportOptions {
  std::optional<std::string> run;
  bool tree = false;
  bool flat = false;
  bool full = false;
  std::optional<SortKey> sort;
  std::optional<std::uint32_t> depth;
  std::optional<double> min_percent;
  std::vector<std::string> threads;
  std::vector<std::string> groups;
  std::string metric;
  std::optional<GroupKey> by;
  std::string function;
  bool with_source = false;
  std::vector<std::string> sources;
  bool slowest = false;
  bool parallel = false;  // --threads
  bool graph = false;     // --tasks
  bool mpi = false;
  bool io = false;
  bool gpu = false;
  bool omp = false;
  bool imports = false;
  bool memory = false;
  bool locks = false;
  bool native = false;
  bool lines = false;
  bool compensate = false;
  std::string from;
  std::string to;
  bool json = false;
  bool csv = false;
  std::string output;  // of --csv
  bool force = false;
  ColourMode colour = ColourMode::kAuto;
};

// Makes them known to the command line. `options` outlives the command.
void add_options(CommandOptions& known, ReportOptions& options);

// Two options of which one would be without effect, in words; empty: there are none.
std::string without_effect(const ReportOptions& options);

}  // namespace timeloom::tools
