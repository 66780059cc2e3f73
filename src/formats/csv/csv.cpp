#include "formats/csv/csv.hpp"

#include <cmath>
#include <optional>

#include "exchange/format_text.hpp"
#include "exchange/in_order.hpp"

namespace timeloom::csv {

using exchange::Column;
using exchange::Destination;
using exchange::Options;

namespace {

class CsvRows : public exchange::RowWriter {
 public:
  CsvRows(exchange::InOrder& out, std::size_t part, const std::vector<Column>& columns)
      : out_(out), part_(part), columns_(columns) {}
  void integer(std::int64_t value) override {
    separate();
    exchange::append_number(text_, value);
  }
  void real(double value) override {
    separate();
    if (std::isfinite(value)) exchange::append_number(text_, value);
  }
  void text(std::uint32_t place) override {
    separate();
    exchange::append_csv(text_, (*columns_[column_ - 1].words)[place]);
  }
  void none() override { separate(); }
  void end_row() override {
    text_ += '\n';
    column_ = 0;
    if (text_.size() >= 1 << 16) pass();
  }
  void finish() override {
    pass();
    out_.finish(part_);
  }

 private:
  void separate() {
    if (column_++ > 0) text_ += ',';
  }
  void pass() {
    out_.write(part_, text_);
    text_.clear();
  }

  exchange::InOrder& out_;
  std::size_t part_;
  const std::vector<Column>& columns_;
  std::string text_;
  std::size_t column_ = 0;  // the next one
};

class CsvTable : public exchange::TableFormat {
 public:
  explicit CsvTable(Destination& out) : out_(out) {}
  void begin(const std::vector<Column>& columns, std::size_t parts) override {
    columns_ = columns;
    std::string head;
    for (const Column& column : columns_) {
      if (!head.empty()) head += ',';
      exchange::append_csv(head, column.name);
    }
    out_.write(head + '\n');
    ordered_.emplace(out_, parts);
  }
  std::unique_ptr<exchange::RowWriter> rows(std::size_t part) override {
    return std::make_unique<CsvRows>(*ordered_, part, columns_);
  }
  void end() override { ordered_->end(); }

 private:
  Destination& out_;
  std::vector<Column> columns_;
  std::optional<exchange::InOrder> ordered_;
};

}  // namespace

std::unique_ptr<exchange::TableFormat> table_of(Destination& out) {
  return std::make_unique<CsvTable>(out);
}

const exchange::Format kFormat = {
    .name = "csv",
    .suffix = "csv",
    .opened_by = "pandas, polars, spreadsheets",
    .of_events = exchange::of_events<CsvTable>,
    .of_paths = exchange::of_paths<CsvTable>,
    .paths_first = true,
    .flat_table = true,
};

}  // namespace timeloom::csv
