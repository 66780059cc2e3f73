// A run as a table: the rows and columns of the formats csv, json, arrow.
//
//   call paths  a row for each call path of each thread or task
//   regions     a row for each region of each thread or task (Options::flat)
//   events      a row for each event
//
// docs/convert.md describes the columns. A format implements TableFormat and RowWriter. Used by one
// thread, except where noted. Throws Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "exchange/cell_texts.hpp"
#include "exchange/export_format.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::exchange {

enum class ColumnType : std::uint8_t { kInteger, kReal, kText };

struct Column {
  std::string name;  // valid UTF-8, unique
  ColumnType type = ColumnType::kInteger;
  std::shared_ptr<const Words> words{};  // of kText: all texts of its cells
};

// Takes rows, cell by cell in the order of the columns. Used by one thread.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  // REQUIRES: the type of the column.
  virtual void integer(std::int64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void text(std::uint32_t place) = 0;  // index into the texts of the column
  virtual void none() = 0;
  virtual void end_row() = 0;
  // Called once, after the last row.
  virtual void finish() = 0;
};

class TableFormat {
 public:
  virtual ~TableFormat() = default;
  // REQUIRES: the texts of the columns are complete. (In csv they may grow, if one thread does
  // everything.) `parts`: number of parts in which the rows come.
  virtual void begin(const std::vector<Column>& columns, std::size_t parts) = 0;
  // Takes the rows of a part; called once for each. The file has the parts in order. Any thread may
  // call it after begin().
  virtual std::unique_ptr<RowWriter> rows(std::size_t part) = 0;
  // Called when all writers have finished.
  virtual void end() = 0;
};

void write_table_of_paths(const profile::CallTree& tree, const Options& options,
                          TableFormat& format);
void write_table_of_events(RunSource& run, const Options& options, TableFormat& format);

// The functions of a Format that is `Table`, a TableFormat constructed with its destination.
template <typename Table>
void of_paths(const profile::CallTree& tree, const Options& options, Destination& out) {
  Table table(out);
  write_table_of_paths(tree, options, table);
}
template <typename Table>
void of_events(RunSource& run, const Options& options, Destination& out) {
  Table table(out);
  write_table_of_events(run, options, table);
}

}  // namespace timeloom::exchange
