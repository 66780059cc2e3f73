// A call-tree report as text, in the layout of Omnitrace 1.12 to the character.
//
// The rows are asked for twice, one by one: first for the widths of the columns. Plain values; one
// thread. Throws what `row` and `write` throw.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom::omnitrace {

struct Numbers {  // in the unit of the report; `self` in percent
  double sum = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
  double variance = 0;
  double deviation = 0;
  double self = 0;
};

struct TextRow {
  std::string label;  // with thread and indentation
  std::int64_t count = 0;
  std::uint32_t depth = 0;
  std::array<Numbers, 2> values{};  // as many as TextForm::metrics
};

enum class Columns : std::uint8_t { kAll, kSumOnly, kNoSum };

struct TextForm {
  std::string description;           // the title, in any case
  std::vector<std::string> metrics;  // one, or two: a row has a line for each
  std::vector<std::string> units;    // one for each of these; empty: no such column
  Columns columns = Columns::kAll;
  int precision = 6;       // of all numbers but % SELF
  int mean_precision = 6;  // of MEAN, VAR and STDDEV
  int self_precision = 1;
  bool scientific = false;
  std::size_t least_width = 8;     // of a column
  std::size_t number_width = 0;    // of numbers; 0: as they need
  std::size_t max_width = 120;     // of the text in a cell
  std::size_t separator_freq = 0;  // a rule after so many rows; 0: none
  // Rows are differences: a row with 0 visits has values, too, and there is no % SELF.
  bool difference = false;
};

using RowSource = std::function<TextRow(std::size_t)>;
using TextWriter = std::function<void(std::string_view)>;

void write_text_report(const TextForm& form, std::size_t rows, const RowSource& row,
                       const TextWriter& write);

}  // namespace timeloom::omnitrace
