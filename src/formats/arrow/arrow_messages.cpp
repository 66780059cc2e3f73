#include "formats/arrow/arrow_messages.hpp"

#include <cstdint>
#include <utility>

#include "core/error.hpp"
#include "formats/arrow/flat.hpp"

namespace timeloom::arrow {

using exchange::Column;
using exchange::ColumnType;

namespace {

constexpr Field kVersion{2, 4};  // V5
constexpr std::int64_t kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3;

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

// id, indexType
void add_encoding(Flat& flat, Flat::Place place, std::size_t id, const exchange::Words& words) {
  const auto encoding = flat.table(place, {{8, static_cast<std::int64_t>(id)}, kReference});
  const auto bits = static_cast<std::int64_t>(8 * index_size(words));
  flat.table(encoding[1], {{4, bits}, {1, 1}});
}

void add_schema(Flat& flat, Flat::Place place, const std::vector<Column>& columns) {
  const auto schema = flat.table(place, {{2, 0}, kReference});  // little endian; fields
  const auto fields = flat.references(schema[1], columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    // name, nullable, type_type, type, dictionary, children
    const bool text = columns[i].type == ColumnType::kText;
    const auto field = flat.table(fields[i], {kReference,
                                              {1, 1},
                                              {1, number_of(columns[i].type)},
                                              kReference,
                                              text ? kReference : kNone,
                                              kReference});
    flat.text(field[0], columns[i].name);
    add_type(flat, field[3], columns[i].type);
    if (text) add_encoding(flat, field[4], i, *columns[i].words);
    flat.references(field[5], 0);
  }
}

std::string framed(std::string flat) {
  std::string head = "\xff\xff\xff\xff";
  for (int i = 0; i < 4; ++i) head += static_cast<char>(flat.size() >> (8 * i));
  return head + std::move(flat);
}

// Rows of columns: the body of a message and its description.
struct Batch {
  Batch(std::int64_t count, const std::vector<ColumnPart>& columns) : rows(count) {
    for (const ColumnPart& column : columns) {
      nodes.insert(nodes.end(), {rows, column.nulls});
      for (const std::string& buffer : column.buffers) {
        buffers.insert(buffers.end(), {body_size(), static_cast<std::int64_t>(buffer.size())});
        body += buffer;
        body.resize((body.size() + 7) / 8 * 8);
      }
    }
  }

  std::int64_t body_size() const { return static_cast<std::int64_t>(body.size()); }

  void add_to(Flat& flat, Flat::Place place) const {
    const auto batch = flat.table(place, {{8, rows}, kReference, kReference});
    flat.words(batch[1], nodes.size() / 2, nodes);
    flat.words(batch[2], buffers.size() / 2, buffers);
  }

  std::int64_t rows;
  std::vector<std::int64_t> nodes, buffers;
  std::string body;
};

void add_blocks(Flat& flat, Flat::Place place, const std::vector<Block>& blocks) {
  std::vector<std::int64_t> words;
  for (const Block& block : blocks) {
    words.insert(words.end(), {block.offset, block.head, block.body});
  }
  flat.words(place, blocks.size(), words);
}

}  // namespace

Message schema_message(const std::vector<Column>& columns) {
  Flat flat;
  const auto message = flat.table(Flat::kRoot, {kVersion, {1, kSchema}, kReference, {8, 0}});
  add_schema(flat, message[2], columns);
  return {framed(flat.take()), {}};
}

Message batch_message(std::int64_t rows, const std::vector<ColumnPart>& columns) {
  Batch batch(rows, columns);
  Flat flat;
  const auto message =
      flat.table(Flat::kRoot, {kVersion, {1, kRecordBatch}, kReference, {8, batch.body_size()}});
  batch.add_to(flat, message[2]);
  return {framed(flat.take()), std::move(batch.body)};
}

std::size_t index_size(const exchange::Words& words) {
  const std::size_t count = words.all().size();
  return count <= std::size_t{INT8_MAX} + 1 ? 1 : count <= std::size_t{INT16_MAX} + 1 ? 2 : 4;
}

Message dictionary_message(std::size_t place, const Column& column) {
  std::string ends(4, '\0'), text;
  for (const std::string& word : column.words->all()) {
    text += word;
    if (text.size() > INT32_MAX) {
      throw Error("the different texts of the column " + column.name +
                  " are more than 2 GB, which is too much for an Arrow file; convert a part of the "
                  "run with --thread, --from and --until, or to json [TL311]");
    }
    for (int i = 0; i < 4; ++i) ends += static_cast<char>(text.size() >> (8 * i));
  }
  const auto rows = static_cast<std::int64_t>(column.words->all().size());
  Batch batch(rows, {{0, {{}, std::move(ends), std::move(text)}}});
  Flat flat;
  const auto message = flat.table(
      Flat::kRoot, {kVersion, {1, kDictionaryBatch}, kReference, {8, batch.body_size()}});
  // id, data
  const auto dictionary =
      flat.table(message[2], {{8, static_cast<std::int64_t>(place)}, kReference});
  batch.add_to(flat, dictionary[1]);
  return {framed(flat.take()), std::move(batch.body)};
}

std::string footer(const std::vector<Column>& columns, const std::vector<Block>& dictionaries,
                   const std::vector<Block>& batches) {
  Flat flat;
  // version, schema, dictionaries, recordBatches
  const auto places = flat.table(Flat::kRoot, {kVersion, kReference, kReference, kReference});
  add_schema(flat, places[1], columns);
  add_blocks(flat, places[2], dictionaries);
  add_blocks(flat, places[3], batches);
  const std::string bytes = flat.take();
  std::string text("\xff\xff\xff\xff\0\0\0\0", 8);  // the end of the stream
  text += bytes;
  for (int i = 0; i < 4; ++i) text += static_cast<char>(bytes.size() >> (8 * i));
  return text + kMagic;
}

}  // namespace timeloom::arrow
