// A table for the terminal: columns of numbers, aligned to the right and never cut, then a
// name with its marks and the place in the source, which share the remaining width.
//
// Used by one thread; write() throws Error as Output does.
#pragma once

#include <string>
#include <vector>

#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

struct TableRow {
  std::vector<std::string> cells;  // as many as columns
  std::string glyphs;
  std::string name;
  std::string place;  // FILE:LINE; empty: unknown
  Ink ink = Ink::kPlain;
};

class Table {
 public:
  // `gap`: blanks between two columns. `name`: the heading of the names.
  Table(const Terminal& terminal, std::size_t gap, std::string name = "region")
      : terminal_(terminal), gap_(gap), name_(std::move(name)) {}

  void add_column(std::string heading) { headings_.push_back(std::move(heading)); }
  void add_row(TableRow row) { rows_.push_back(std::move(row)); }
  void write(Output& output) const;

 private:
  struct Widths {
    std::vector<std::size_t> cells;
    std::size_t name = 0;  // with its marks
    std::size_t place = 0;
  };
  Widths measure() const;
  std::string line(const TableRow& row, const Widths& widths, Ink glyphs) const;

  Terminal terminal_;
  std::size_t gap_;
  std::string name_;
  std::vector<std::string> headings_;
  std::vector<TableRow> rows_;
};

}  // namespace timeloom::tools
