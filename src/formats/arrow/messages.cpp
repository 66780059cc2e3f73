#include "messages.hpp"

#include "flat.hpp"

namespace timeloom::arrow {

using convert::Column;
using convert::ColumnType;

namespace {

constexpr Field kVersion{2, 4};  // V5
constexpr std::int64_t kSchema = 1, kRecordBatch = 3;

void add_type(Flat& flat, Flat::Place place, ColumnType type) {
  switch (type) {
    case ColumnType::kInteger: flat.table(place, {{4, 64}, {1, 1}}); break;  // bits, signed
    case ColumnType::kReal: flat.table(place, {{2, 2}}); break;              // double
    case ColumnType::kText: flat.table(place, {}); break;
  }
}

std::int64_t number_of(ColumnType type) {
  switch (type) {
    case ColumnType::kInteger: return 2;  // Int
    case ColumnType::kReal: return 3;     // FloatingPoint
    case ColumnType::kText: break;
  }
  return 5;  // Utf8
}

void add_schema(Flat& flat, Flat::Place place, const std::vector<Column>& columns) {
  const auto schema = flat.table(place, {{2, 0}, kReference});  // little endian; fields
  const auto fields = flat.references(schema[1], columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    // name, nullable, type_type, type, dictionary, children
    const auto field = flat.table(
        fields[i],
        {kReference, {1, 1}, {1, number_of(columns[i].type)}, kReference, kNone, kReference});
    flat.text(field[0], columns[i].name);
    add_type(flat, field[3], columns[i].type);
    flat.references(field[5], 0);
  }
}

std::string framed(std::string flat) {
  std::string head = "\xff\xff\xff\xff";
  for (int i = 0; i < 4; ++i) head += static_cast<char>(flat.size() >> (8 * i));
  return head + std::move(flat);
}

}  // namespace

Message schema_message(const std::vector<Column>& columns) {
  Flat flat;
  const auto message = flat.table(Flat::kRoot, {kVersion, {1, kSchema}, kReference, {8, 0}});
  add_schema(flat, message[2], columns);
  return {framed(flat.take()), {}};
}

Message batch_message(std::int64_t rows, std::vector<ColumnPart> columns) {
  std::vector<std::int64_t> nodes, buffers;
  std::string body;
  for (const ColumnPart& column : columns) {
    nodes.insert(nodes.end(), {rows, column.nulls});
    for (const std::string& buffer : column.buffers) {
      buffers.insert(buffers.end(), {static_cast<std::int64_t>(body.size()),
                                     static_cast<std::int64_t>(buffer.size())});
      body += buffer;
      body.resize((body.size() + 7) / 8 * 8);
    }
  }
  Flat flat;
  const auto message = flat.table(
      Flat::kRoot,
      {kVersion, {1, kRecordBatch}, kReference, {8, static_cast<std::int64_t>(body.size())}});
  const auto batch = flat.table(message[2], {{8, rows}, kReference, kReference});
  flat.words(batch[1], columns.size(), nodes);
  flat.words(batch[2], buffers.size() / 2, buffers);
  return {framed(flat.take()), std::move(body)};
}

std::string footer(const std::vector<Column>& columns, const std::vector<Block>& batches) {
  Flat flat;
  // version, schema, dictionaries, recordBatches
  const auto places = flat.table(Flat::kRoot, {kVersion, kReference, kReference, kReference});
  add_schema(flat, places[1], columns);
  flat.words(places[2], 0, {});
  std::vector<std::int64_t> blocks;
  for (const Block& block : batches) {
    blocks.insert(blocks.end(), {block.offset, block.head, block.body});
  }
  flat.words(places[3], batches.size(), blocks);
  const std::string bytes = flat.take();
  std::string text("\xff\xff\xff\xff\0\0\0\0", 8);  // the end of the stream
  text += bytes;
  for (int i = 0; i < 4; ++i) text += static_cast<char>(bytes.size() >> (8 * i));
  return text + kMagic;
}

}  // namespace timeloom::arrow
