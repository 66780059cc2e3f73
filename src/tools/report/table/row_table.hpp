// A table of rows, described once, and written for the terminal, as JSON and as CSV.
//
//   RowTable<GraphRow>{"graph",
//                      {{"name", Unit::kText, &GraphRow::name},
//                       {"launches", Unit::kCount, &GraphRow::launches, {2, "launches"}},
//                       {"gpu_seconds", Unit::kNanoseconds, &GraphRow::gpu_ns, {1, "time"}}}}
//
// JSON and CSV have the columns with a key, in their order; the terminal has those with a place,
// from left to right, and the label of the row to the right of them.
//
// Plain values, used by one thread. What a column refers to outlives the table. Functions that
// write throw Error as Output does, the others only std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tools/report/answer_text.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"

namespace timeloom::tools {

// Of a value. JSON and CSV have it as it is, nanoseconds as seconds, and an empty name as null; in
// the terminal numbers read "1,234", "1.23M", "1.25", "12.5%", "12.4ms", "12.4ms", "1.20 kB".
enum class Unit {
  kText,
  kName,
  kCount,
  kShortCount,
  kFactor,
  kShare,
  kSeconds,
  kNanoseconds,
  kBytes
};

template <typename Row>
struct RowColumn {
  struct Shown {
    std::size_t place = 0;  // in the terminal, 1: the leftmost; 0: not there
    std::string heading{};  // of lines: as wide as the column
    // The cell, if the value and its unit do not make it.
    std::function<std::string(const Row&, const Terminal&)> cell{};
  };
  std::string key;  // in JSON and CSV; empty: not there
  Unit unit;
  std::function<nlohmann::ordered_json(const Row&)> value;  // null: not known
  Shown shown{};
};

nlohmann::ordered_json row_value(nlohmann::ordered_json value, Unit unit);
// Empty for null.
std::string row_cell(const nlohmann::ordered_json& value, Unit unit, const Terminal& terminal);
// The line of a CSV file, from the values of an object or array.
std::string csv_line(const nlohmann::ordered_json& values);

template <typename Row>
struct RowTable {
  std::string title;  // in the terminal, the heading of the labels
  std::vector<RowColumn<Row>> columns;
  // Of a row in the terminal; without it, the text of the first column.
  std::function<std::string(const Row&, const Terminal&)> label{};

  nlohmann::ordered_json json_of(const Row& row) const {
    auto object = nlohmann::ordered_json::object();
    for (const RowColumn<Row>& column : columns) {
      if (!column.key.empty()) object[column.key] = row_value(column.value(row), column.unit);
    }
    return object;
  }
  nlohmann::ordered_json json(std::span<const Row> rows) const {
    auto all = nlohmann::ordered_json::array();
    for (const Row& row : rows) all.push_back(json_of(row));
    return all;
  }
  // With a line of headings.
  void write_csv(std::span<const Row> rows, Output& output) const {
    auto names = nlohmann::ordered_json::array();
    for (const RowColumn<Row>& column : columns) {
      if (!column.key.empty()) names.push_back(column.key);
    }
    output.write(csv_line(names));
    for (const Row& row : rows) output.write(csv_line(json_of(row)));
  }
  // Columns are as wide as their widest cell.
  void write(std::span<const Row> rows, const Terminal& terminal, Output& output) const {
    Table table(terminal, 2, title);
    for (const RowColumn<Row>* column : shown()) table.add_column(column->shown.heading);
    for (const Row& row : rows) {
      TableRow line;
      for (const auto* column : shown()) line.cells.push_back(cell(row, *column, terminal));
      line.name = label_of(row, terminal);
      table.add_row(std::move(line));
    }
    table.write(output);
  }
  // Columns are as wide as their headings, which the caller writes above.
  void write_lines(std::span<const Row> rows, const Terminal& terminal, Output& output) const {
    for (const Row& row : rows) {
      if (output.closed()) return;
      output.write(drawn({numbers(row, terminal), "", label_of(row, terminal), "", ""}, terminal));
    }
  }
  std::string headings() const {
    std::string line;
    for (const auto* column : shown()) line += (line.empty() ? "" : " ") + column->shown.heading;
    return line;
  }
  std::string numbers(const Row& row, const Terminal& terminal) const {
    std::string line;
    for (const auto* column : shown()) {
      const std::size_t width = tools::columns(column->shown.heading);
      line += (line.empty() ? "" : " ") + pad_left(cell(row, *column, terminal), width);
    }
    return line;
  }

 private:
  std::vector<const RowColumn<Row>*> shown() const {
    std::vector<const RowColumn<Row>*> some;
    for (const RowColumn<Row>& column : columns) {
      if (column.shown.place != 0) some.push_back(&column);
    }
    std::ranges::stable_sort(some, {}, [](const auto* column) { return column->shown.place; });
    return some;
  }
  static std::string cell(const Row& row, const RowColumn<Row>& column, const Terminal& terminal) {
    return column.shown.cell ? column.shown.cell(row, terminal)
                             : row_cell(column.value(row), column.unit, terminal);
  }
  std::string label_of(const Row& row, const Terminal& terminal) const {
    return label ? label(row, terminal) : cell(row, columns.front(), terminal);
  }
};

}  // namespace timeloom::tools
