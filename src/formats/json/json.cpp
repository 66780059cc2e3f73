#include "formats/json/json.hpp"

#include <mutex>

#include "convert/table.hpp"
#include "convert/text.hpp"

namespace timeloom::json {

using convert::Column;
using convert::Destination;
using convert::Options;

namespace {

// State shared by the writers of rows.
struct Shared {
  Destination& out;
  std::vector<Column> columns;
  std::vector<std::string> keys;  // "name": with the separator before it
  std::mutex mutex;
  bool first = true;  // no row has been written
};

// Every row begins with the comma that separates it from the one before.
class JsonRows : public convert::RowWriter {
 public:
  explicit JsonRows(Shared& shared) : shared_(shared) {}
  void integer(std::int64_t value) override {
    key();
    convert::append_number(text_, value);
  }
  void real(double value) override {
    key();
    convert::append_json_number(text_, value);
  }
  void text(std::uint32_t place) override {
    key();
    convert::append_json(text_, (*shared_.columns[column_ - 1].words)[place]);
  }
  void none() override {
    key();
    text_ += "null";
  }
  void end_row() override {
    text_ += '}';
    column_ = 0;
    if (text_.size() >= 1 << 16) finish();
  }
  void finish() override {
    if (text_.empty()) return;
    const std::lock_guard lock(shared_.mutex);
    shared_.out.write(std::string_view(text_).substr(shared_.first ? 1 : 0));
    shared_.first = false;
    text_.clear();
  }

 private:
  void key() {
    if (column_ == 0) text_ += ",\n";
    text_ += shared_.keys[column_++];
  }

  Shared& shared_;
  std::string text_;
  std::size_t column_ = 0;
};

class JsonTable : public convert::TableFormat {
 public:
  explicit JsonTable(Destination& out) : shared_{out, {}, {}, {}, true} {}
  void begin(const std::vector<Column>& columns) override {
    shared_.columns = columns;
    for (const Column& column : columns) {
      std::string key = shared_.keys.empty() ? "{" : ",";
      convert::append_json(key, column.name);
      shared_.keys.push_back(key + ":");
    }
    shared_.out.write("[");
  }
  std::unique_ptr<convert::RowWriter> rows() override {
    return std::make_unique<JsonRows>(shared_);
  }
  void end() override { shared_.out.write("\n]\n"); }

 private:
  Shared shared_;
};

}  // namespace

const convert::Format kFormat = {
    .name = "json",
    .suffix = "json",
    .opened_by = "pandas, polars, jq",
    .of_events = convert::of_events<JsonTable>,
    .of_paths = convert::of_paths<JsonTable>,
    .paths_first = true,
    .flat_table = true,
};

}  // namespace timeloom::json
