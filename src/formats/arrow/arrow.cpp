#include "formats/arrow/arrow.hpp"

#include <bit>
#include <mutex>

#include "convert/text.hpp"
#include "messages.hpp"

namespace timeloom::arrow {

using convert::Column;
using convert::ColumnType;
using convert::Destination;
using convert::Options;

namespace {

constexpr std::int64_t kRowsOfBatch = 1 << 16;
constexpr std::size_t kTextOfBatch = 16 << 20;  // bytes of one column

// State shared by the writers of rows.
struct Shared {
  void write(const Message& message) {
    const std::lock_guard lock(mutex);
    batches.push_back({static_cast<std::int64_t>(size),
                       static_cast<std::int64_t>(message.head.size()),
                       static_cast<std::int64_t>(message.body.size())});
    put(message.head);
    put(message.body);
  }
  void put(std::string_view bytes) {
    out.write(bytes);
    size += bytes.size();
  }

  Destination& out;
  std::vector<Column> columns;
  std::mutex mutex;
  std::uint64_t size = 0;  // of what has been written, before compression
  std::vector<Block> batches;
};

// The values of a column in a batch, as Arrow lays them out.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(ColumnType type) : type_(type) { clear(); }

  void word(std::uint64_t value) {
    add_validity(true);
    append(values_, value, 8);
  }
  void text(std::string_view value) {
    add_validity(true);
    text_ += convert::utf8(value);
    append(values_, text_.size(), 4);
  }
  void none() {
    add_validity(false);
    ++nulls_;
    if (type_ == ColumnType::kText) {
      append(values_, text_.size(), 4);
    } else {
      append(values_, 0, 8);
    }
  }
  std::size_t text_size() const noexcept { return text_.size(); }

  ColumnPart take() {
    ColumnPart part{nulls_, {}};
    // Where every row has a value, the bits may be left out.
    part.buffers.push_back(nulls_ == 0 ? std::string() : std::move(validity_));
    part.buffers.push_back(std::move(values_));
    if (type_ == ColumnType::kText) part.buffers.push_back(std::move(text_));
    clear();
    return part;
  }

 private:
  static void append(std::string& to, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) to += static_cast<char>(value >> (8 * i));
  }

  void add_validity(bool valid) {
    if (rows_ % 8 == 0) validity_ += '\0';
    if (valid) validity_.back() = static_cast<char>(validity_.back() | 1 << (rows_ % 8));
    ++rows_;
  }

  void clear() {
    nulls_ = 0;
    rows_ = 0;
    validity_.clear();
    values_.clear();
    text_.clear();
    if (type_ == ColumnType::kText) append(values_, 0, 4);  // where the first text begins
  }

  ColumnType type_;
  std::int64_t nulls_ = 0;
  std::uint64_t rows_ = 0;
  std::string validity_;
  std::string values_;  // or where texts end
  std::string text_;
};

class ArrowRows : public convert::RowWriter {
 public:
  explicit ArrowRows(Shared& shared) : shared_(shared) {
    for (const Column& column : shared.columns) columns_.emplace_back(column.type);
  }
  void integer(std::int64_t value) override { next().word(static_cast<std::uint64_t>(value)); }
  void real(double value) override { next().word(std::bit_cast<std::uint64_t>(value)); }
  void text(std::string_view value) override {
    ColumnBuilder& column = next();
    column.text(value);
    full_ = full_ || column.text_size() >= kTextOfBatch;
  }
  void none() override { next().none(); }
  void end_row() override {
    column_ = 0;
    if (++rows_ == kRowsOfBatch || full_) finish();
  }
  void finish() override {
    if (rows_ == 0) return;
    std::vector<ColumnPart> parts;
    for (ColumnBuilder& column : columns_) parts.push_back(column.take());
    shared_.write(batch_message(rows_, std::move(parts)));
    rows_ = 0;
    full_ = false;
  }

 private:
  ColumnBuilder& next() { return columns_[column_++]; }

  Shared& shared_;
  std::vector<ColumnBuilder> columns_;
  std::size_t column_ = 0;
  std::int64_t rows_ = 0;
  bool full_ = false;
};

class ArrowTable : public convert::TableFormat {
 public:
  explicit ArrowTable(Destination& out) : shared_{out, {}, {}, 0, {}} {}
  void begin(const std::vector<Column>& columns) override {
    shared_.columns = columns;
    shared_.put(std::string_view("ARROW1\0\0", 8));
    shared_.put(schema_message(columns).head);
  }
  std::unique_ptr<convert::RowWriter> rows() override {
    return std::make_unique<ArrowRows>(shared_);
  }
  void end() override { shared_.put(footer(shared_.columns, shared_.batches)); }

 private:
  Shared shared_;
};

}  // namespace

const convert::Format kFormat = {
    .name = "arrow",
    .suffix = "arrow",
    .opened_by = "pandas.read_feather, polars.read_ipc, pyarrow, duckdb",
    .of_events = convert::of_events<ArrowTable>,
    .of_paths = convert::of_paths<ArrowTable>,
    .paths_first = true,
    .text = false,
    .flat_table = true,
};

}  // namespace timeloom::arrow
