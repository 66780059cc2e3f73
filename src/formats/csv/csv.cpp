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
  explicit CsvRows(Destination& out) : out_(out) {}
  void integer(std::int64_t value) override {
    separate();
    convert::append_number(text_, value);
  }
  void real(double value) override {
    separate();
    if (std::isfinite(value)) convert::append_number(text_, value);
  }
  void text(std::string_view value) override {
    separate();
    convert::append_csv(text_, value);
  }
  void none() override { separate(); }
  void end_row() override {
    text_ += '\n';
    first_ = true;
    if (text_.size() >= 1 << 16) finish();
  }
  void finish() override {
    out_.write(text_);
    text_.clear();
  }

 private:
  void separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }

  Destination& out_;
  std::string text_;
  bool first_ = true;
};

class CsvTable : public convert::TableFormat {
 public:
  explicit CsvTable(Destination& out) : out_(out) {}
  void begin(const std::vector<Column>& columns) override {
    CsvRows head(out_);
    for (const Column& column : columns) head.text(column.name);
    head.end_row();
    head.finish();
  }
  std::unique_ptr<convert::RowWriter> rows() override { return std::make_unique<CsvRows>(out_); }
  void end() override {}

 private:
  Destination& out_;
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
