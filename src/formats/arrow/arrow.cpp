#include "formats/arrow/arrow.hpp"

#include <bit>
#include <cstring>
#include <mutex>

#include "messages.hpp"

namespace timeloom::arrow {

using convert::Column;
using convert::ColumnType;
using convert::Destination;
using convert::Options;

namespace {

constexpr std::int64_t kRowsOfBatch = 1 << 16;

// State shared by the writers of rows.
struct Shared {
  void write(const Message& message, std::vector<Block>& blocks) {
    const std::lock_guard lock(mutex);
    blocks.push_back({static_cast<std::int64_t>(size),
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
  std::vector<Block> dictionaries{}, batches{};
};

// The values of a column in a batch, as Arrow lays them out.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(const Column& column)
      : size_(column.type == ColumnType::kText ? index_size(*column.words) : 8) {}

  void add(std::uint64_t value) {
    add_validity(true);
    append(value);
  }
  void none() {
    add_validity(false);
    ++nulls_;
    append(0);
  }

  ColumnPart take() {
    ColumnPart part{nulls_, {}};
    // Where every row has a value, the bits may be left out.
    part.buffers.push_back(nulls_ == 0 ? std::string() : std::move(validity_));
    part.buffers.push_back(std::move(values_));
    clear();
    return part;
  }

 private:
  void append(std::uint64_t value) {
    static_assert(std::endian::native == std::endian::little);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    values_.append(bytes, size_);
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
  }

  std::size_t size_;  // of a value
  std::int64_t nulls_ = 0;
  std::uint64_t rows_ = 0;
  std::string validity_;
  std::string values_;
};

class ArrowRows : public convert::RowWriter {
 public:
  explicit ArrowRows(Shared& shared) : shared_(shared) {
    for (const Column& column : shared.columns) columns_.emplace_back(column);
  }
  void integer(std::int64_t value) override { next().add(static_cast<std::uint64_t>(value)); }
  void real(double value) override { next().add(std::bit_cast<std::uint64_t>(value)); }
  void text(std::uint32_t place) override { next().add(place); }
  void none() override { next().none(); }
  void end_row() override {
    column_ = 0;
    if (++rows_ == kRowsOfBatch) finish();
  }
  void finish() override {
    if (rows_ == 0) return;
    std::vector<ColumnPart> parts;
    for (ColumnBuilder& column : columns_) parts.push_back(column.take());
    shared_.write(batch_message(rows_, parts), shared_.batches);
    rows_ = 0;
  }

 private:
  ColumnBuilder& next() { return columns_[column_++]; }

  Shared& shared_;
  std::vector<ColumnBuilder> columns_;
  std::size_t column_ = 0;
  std::int64_t rows_ = 0;
};

class ArrowTable : public convert::TableFormat {
 public:
  explicit ArrowTable(Destination& out) : shared_{out, {}, {}, 0} {}
  void begin(const std::vector<Column>& columns) override {
    shared_.columns = columns;
    shared_.put(std::string_view("ARROW1\0\0", 8));
    shared_.put(schema_message(columns).head);
    // All before the first batch, so that a reader of a pipe has them, too.
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].type != ColumnType::kText) continue;
      shared_.write(dictionary_message(i, columns[i]), shared_.dictionaries);
    }
  }
  std::unique_ptr<convert::RowWriter> rows() override {
    return std::make_unique<ArrowRows>(shared_);
  }
  void end() override {
    shared_.put(footer(shared_.columns, shared_.dictionaries, shared_.batches));
  }

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
