// The values of one metric in the rows of a process, in the unit of its report.
//
// Borrows all that it is made of. Plain values, one thread; throws only std::bad_alloc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doors/omnitrace/format/row_order.hpp"
#include "doors/omnitrace/format/text_report.hpp"

namespace timeloom::omnitrace {

// The form of reports, as the OMNITRACE_ variables choose it.
struct NumberStyle {
  int precision = 6;
  std::size_t width = 0;  // 0: as the numbers need
  bool scientific = false;
};

struct ReportStyle {
  bool flat = false;
  bool timeline = false;
  bool collapse_threads = false;
  bool collapse_processes = false;
  std::uint64_t max_depth = 65535;
  std::size_t max_width = 120;
  std::size_t separator_freq = 0;
  Unit time{"sec", 1e9};
  Unit memory{"MB", 1e6};
  NumberStyle of_times{6};
  NumberStyle of_memory{3};
  NumberStyle of_others{-1};  // -1: 1, for values that are not whole numbers
  bool flat_json = true;      // the list of rows
  bool tree_json = true;      // the tree
};

Unit unit_of(const Metric& metric, const ReportStyle& style);

class MetricRows {
 public:
  // `metric` is a place in calls.metrics. `collapsed`: rows do not belong to a thread.
  MetricRows(const Calls& calls, const Rows& rows, std::size_t metric, const ReportStyle& style,
             bool collapsed);

  const Metric& metric() const noexcept { return *calls_.metrics[metric_]; }
  const Rows& rows() const noexcept { return rows_; }
  const std::string& label(std::size_t row) const { return calls_.labels[rows_.rows[row].label]; }
  // The cell of the column LABEL.
  std::string prefix(std::size_t row) const;
  // The values of its visits.
  Visits visits(std::size_t row, std::size_t value) const;
  // The sum of these values. For a share (Measure::kShare): the share over all visits together, in
  // percent.
  double total(std::size_t row, std::size_t value) const;
  // The same without the rows directly below it.
  Visits exclusive(std::size_t row, std::size_t value) const;
  double exclusive_total(std::size_t row, std::size_t value) const;
  // total() in nanoseconds or bytes, before its conversion to the report's unit; other metrics as
  // they are.
  double raw(std::size_t row, std::size_t value) const;
  // The values of all roots together, as raw().
  double raw_of_roots(std::size_t value) const;
  TextRow text_row(std::size_t row) const;

 private:
  const Visits& stored(std::size_t row, std::size_t value) const;
  double self(std::size_t row, std::size_t value) const;

  const Calls& calls_;
  const Rows& rows_;
  std::size_t metric_;
  bool collapsed_;
  double unit_;
  std::size_t digits_ = 1;       // of the number of a thread
  std::size_t first_value_ = 0;  // of the metric, in the values of a row
  std::vector<Visits> below_;    // by row and value: sums of the rows directly below it
};

// The sample variance; 0 for fewer than two visits.
double variance_of(const Visits& visits) noexcept;

TextForm text_form(const Metric& metric, const ReportStyle& style);

}  // namespace timeloom::omnitrace
