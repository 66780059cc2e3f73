#include "formats/csv/csv.hpp"

#include <cmath>

#include "convert/text.hpp"

namespace timeloom::csv {

using convert::Column;
using convert::Destination;
using convert::Options;

namespace {

class CsvRows : public convert::RowWriter {
 public:
  CsvRows(Destination& out, const std::vector<Column>& columns) : out_(out), columns_(columns) {}
  void head() {
    for (const Column& column : columns_) {
      separate();
      convert::append_csv(text_, column.name);
    }
    end_row();
  }
  void integer(std::int64_t value) override {
    separate();
    convert::append_number(text_, value);
  }
  void real(double value) override {
    separate();
    if (std::isfinite(value)) convert::append_number(text_, value);
  }
  void text(std::uint32_t place) override {
    separate();
    convert::append_csv(text_, (*columns_[column_ - 1].words)[place]);
  }
  void none() override { separate(); }
  void end_row() override {
    text_ += '\n';
    column_ = 0;
    if (text_.size() >= 1 << 16) finish();
  }
  void finish() override {
    out_.write(text_);
    text_.clear();
  }

 private:
  void separate() {
    if (column_++ > 0) text_ += ',';
  }

  Destination& out_;
  const std::vector<Column>& columns_;
  std::string text_;
  std::size_t column_ = 0;  // the next one
};

class CsvTable : public convert::TableFormat {
 public:
  explicit CsvTable(Destination& out) : out_(out) {}
  void begin(const std::vector<Column>& columns) override {
    columns_ = columns;
    CsvRows rows(out_, columns_);
    rows.head();
    rows.finish();
  }
  std::unique_ptr<convert::RowWriter> rows() override {
    return std::make_unique<CsvRows>(out_, columns_);
  }
  void end() override {}

 private:
  Destination& out_;
  std::vector<Column> columns_;
};

}  // namespace

std::unique_ptr<convert::TableFormat> table_of(Destination& out) {
  return std::make_unique<CsvTable>(out);
}

const convert::Format kFormat = {
    .name = "csv",
    .suffix = "csv",
    .opened_by = "pandas, polars, spreadsheets",
    .of_events = convert::of_events<CsvTable>,
    .of_paths = convert::of_paths<CsvTable>,
    .paths_first = true,
    .flat_table = true,
};

}  // namespace timeloom::csv
