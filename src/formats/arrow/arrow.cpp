#include "formats/arrow/arrow.hpp"

#include <bit>
#include <cstring>
#include <optional>

#include "exchange/in_order.hpp"
#include "formats/arrow/arrow_messages.hpp"

namespace timeloom::arrow {

using exchange::Column;
using exchange::ColumnType;
using exchange::Destination;
using exchange::Options;

namespace {

constexpr std::int64_t kRowsOfBatch = 1 << 16;

// The block of a message in the file; its start is known when all messages before it are written.
Block block_of(const Message& message, std::int64_t offset = 0) {
  return {offset, static_cast<std::int64_t>(message.head.size()),
          static_cast<std::int64_t>(message.body.size())};
}

// The values of a column in a batch, in Arrow's layout.
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
    // The validity bits may be left out where every row has a value.
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

class ArrowRows : public exchange::RowWriter {
 public:
  ArrowRows(const std::vector<Column>& columns, exchange::InOrder& out, std::size_t part,
            std::vector<Block>& batches)
      : out_(out), part_(part), batches_(batches) {
    for (const Column& column : columns) columns_.emplace_back(column);
  }
  void integer(std::int64_t value) override { next().add(static_cast<std::uint64_t>(value)); }
  void real(double value) override { next().add(std::bit_cast<std::uint64_t>(value)); }
  void text(std::uint32_t place) override { next().add(place); }
  void none() override { next().none(); }
  void end_row() override {
    column_ = 0;
    if (++rows_ == kRowsOfBatch) pass();
  }
  void finish() override {
    if (rows_ > 0) pass();
    out_.finish(part_);
  }

 private:
  ColumnBuilder& next() { return columns_[column_++]; }

  void pass() {
    std::vector<ColumnPart> parts;
    for (ColumnBuilder& column : columns_) parts.push_back(column.take());
    const Message message = batch_message(rows_, parts);
    batches_.push_back(block_of(message));
    out_.write(part_, message.head);
    out_.write(part_, message.body);
    rows_ = 0;
  }

  exchange::InOrder& out_;
  std::size_t part_;
  std::vector<Block>& batches_;
  std::vector<ColumnBuilder> columns_;
  std::size_t column_ = 0;
  std::int64_t rows_ = 0;
};

class ArrowTable : public exchange::TableFormat {
 public:
  explicit ArrowTable(Destination& out) : out_(out) {}
  void begin(const std::vector<Column>& columns, std::size_t parts) override {
    columns_ = columns;
    put(std::string_view("ARROW1\0\0", 8));
    put(schema_message(columns).head);
    // Dictionaries come before the first batch, so that a reader of a pipe has them, too.
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].type != ColumnType::kText) continue;
      const Message message = dictionary_message(i, columns[i]);
      dictionaries_.push_back(block_of(message, size_));
      put(message.head);
      put(message.body);
    }
    batches_.resize(parts);
    ordered_.emplace(out_, parts);
  }
  std::unique_ptr<exchange::RowWriter> rows(std::size_t part) override {
    return std::make_unique<ArrowRows>(columns_, *ordered_, part, batches_[part]);
  }
  void end() override {
    ordered_->end();
    std::vector<Block> all;
    for (const std::vector<Block>& part : batches_) {
      for (Block block : part) {
        block.offset = size_;
        size_ += block.head + block.body;
        all.push_back(block);
      }
    }
    put(footer(columns_, dictionaries_, all));
  }

 private:
  void put(std::string_view bytes) {
    out_.write(bytes);
    size_ += static_cast<std::int64_t>(bytes.size());
  }

  Destination& out_;
  std::vector<Column> columns_;
  std::int64_t size_ = 0;  // bytes written, before compression
  std::vector<Block> dictionaries_;
  std::vector<std::vector<Block>> batches_;  // by part
  std::optional<exchange::InOrder> ordered_;
};

}  // namespace

const exchange::Format kFormat = {
    .name = "arrow",
    .suffix = "arrow",
    .opened_by = "pandas.read_feather, polars.read_ipc, pyarrow, duckdb",
    .of_events = exchange::of_events<ArrowTable>,
    .of_paths = exchange::of_paths<ArrowTable>,
    .paths_first = true,
    .text = false,
    .flat_table = true,
};

}  // namespace timeloom::arrow
