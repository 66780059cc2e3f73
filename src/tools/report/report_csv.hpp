// `timeloom report --csv`: a row a call path, or a region, for each thread and task. docs/report.md
// describes the columns; they are stable.
//
// Used by one thread; throws Error when the output cannot be written.
#pragma once

#include <set>
#include <string>

#include "profile/call_tree.hpp"
#include "tools/report/report_rows.hpp"

namespace timeloom::tools {

struct CsvOptions {
  RowOptions rows;
  bool tree = false;
  bool flat = false;  // with neither: the tree, or with `output` both
  bool compensate = false;
  std::string metric;  // empty: none is chosen
  std::string output;  // files are NAME.tree.csv and NAME.flat.csv; empty: standard output
  bool force = false;  // replaces files
};

// The reason why these options do not go together; empty: they do.
std::string wrong_usage(const CsvOptions& options);

// Writes the rows of the locations `ids`, whose time is the whole of all shares. REQUIRES:
// wrong_usage() is empty.
void write_csv(const profile::CallTree& tree, const std::set<LocationId>& ids,
               const CsvOptions& options);

}  // namespace timeloom::tools
