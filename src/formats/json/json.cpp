#include "formats/json/json.hpp"

#include <optional>

#include "exchange/event_table.hpp"
#include "exchange/format_text.hpp"
#include "exchange/in_order.hpp"

namespace timeloom::json {

using exchange::Column;
using exchange::Destination;
using exchange::Options;

namespace {

// State shared by the writers of rows.
struct Shared {
  std::vector<Column> columns;
  std::vector<std::string> keys;  // "name": with the separator in front
};

// Every row starts with the comma that separates it from the one before; the comma of the first row
// is skipped.
class JsonRows : public exchange::RowWriter {
 public:
  JsonRows(const Shared& shared, exchange::InOrder& out, std::size_t part)
      : shared_(shared), out_(out), part_(part) {}
  void integer(std::int64_t value) override {
    key();
    exchange::append_number(text_, value);
  }
  void real(double value) override {
    key();
    exchange::append_json_number(text_, value);
  }
  void text(std::uint32_t place) override {
    key();
    exchange::append_json(text_, (*shared_.columns[column_ - 1].words)[place]);
  }
  void none() override {
    key();
    text_ += "null";
  }
  void end_row() override {
    text_ += '}';
    column_ = 0;
    if (text_.size() >= 1 << 16) pass();
  }
  void finish() override {
    pass();
    out_.finish(part_);
  }

 private:
  void pass() {
    out_.write(part_, text_);
    text_.clear();
  }
  void key() {
    if (column_ == 0) text_ += ",\n";
    text_ += shared_.keys[column_++];
  }

  const Shared& shared_;
  exchange::InOrder& out_;
  std::size_t part_;
  std::string text_;
  std::size_t column_ = 0;
};

class JsonTable : public exchange::TableFormat {
 public:
  explicit JsonTable(Destination& out) : out_(out) {}
  void begin(const std::vector<Column>& columns, std::size_t parts) override {
    shared_.columns = columns;
    for (const Column& column : columns) {
      std::string key = shared_.keys.empty() ? "{" : ",";
      exchange::append_json(key, column.name);
      shared_.keys.push_back(key + ":");
    }
    out_.write("[");
    ordered_.emplace(out_, parts, 1);
  }
  std::unique_ptr<exchange::RowWriter> rows(std::size_t part) override {
    return std::make_unique<JsonRows>(shared_, *ordered_, part);
  }
  void end() override {
    ordered_->end();
    out_.write("\n]\n");
  }

 private:
  Destination& out_;
  Shared shared_;
  std::optional<exchange::InOrder> ordered_;
};

}  // namespace

const exchange::Format kFormat = {
    .name = "json",
    .suffix = "json",
    .opened_by = "pandas, polars, jq",
    .of_events = exchange::of_events<JsonTable>,
    .of_paths = exchange::of_paths<JsonTable>,
    .paths_first = true,
    .flat_table = true,
};

}  // namespace timeloom::json
