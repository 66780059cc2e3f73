#include "tools/report/lines/line_times.hpp"

#include <set>
#include <utility>

namespace timeloom::tools {

LineTimes::LineTimes(std::vector<run::LineRow> rows) : rows_(std::move(rows)) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const run::LineRow& row = rows_[i];
    rows_of_[{row.function, row.file, row.first_line}].push_back(i);
  }
}

std::vector<view::LineTime> LineTimes::of(const std::vector<const Region*>& regions) const {
  std::set<std::size_t> chosen;  // regions of one name share rows
  for (const Region* const region : regions) {
    const auto found = rows_of_.find({region->name, region->file, region->first_line});
    if (found != rows_of_.end()) chosen.insert(found->second.begin(), found->second.end());
  }
  std::map<std::uint32_t, view::LineTime> lines;
  for (const std::size_t i : chosen) {
    const run::LineRow& row = rows_[i];
    view::LineTime& line = lines[row.source_line];
    line.line = row.source_line;
    line.samples += row.samples;
    line.ns += row.ns;
  }
  std::vector<view::LineTime> result;
  for (const auto& [number, line] : lines) result.push_back(line);
  return result;
}

LineTimes read_line_times(const std::filesystem::path& run) {
  return LineTimes(run::read_line_rows(run));
}

}  // namespace timeloom::tools
