// The messages of an Arrow IPC file, with the schemas Message.fbs, Schema.fbs and File.fbs.
//
// Plain functions; they throw only std::bad_alloc unless noted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exchange/event_table.hpp"

namespace timeloom::arrow {

// The rows of one column in a batch, and its buffers, each with its padding.
struct ColumnPart {
  std::int64_t nulls = 0;
  std::vector<std::string> buffers;
};

// A message, as it is written to the file.
struct Message {
  std::string head;  // preceded by its length
  std::string body;
};

// Columns of texts are dictionaries; their ids are the indices of the columns.
Message schema_message(const std::vector<exchange::Column>& columns);
// The texts of the column with that index. Throws Error where they have too many bytes.
Message dictionary_message(std::size_t place, const exchange::Column& column);
Message batch_message(std::int64_t rows, const std::vector<ColumnPart>& columns);

// The size in bytes of an index into these texts.
std::size_t index_size(const exchange::Words& words);

// The position of a batch in the file.
struct Block {
  std::int64_t offset = 0;
  std::int64_t head = 0;  // bytes
  std::int64_t body = 0;
};

// Everything after the last message.
std::string footer(const std::vector<exchange::Column>& columns,
                   const std::vector<Block>& dictionaries, const std::vector<Block>& batches);

inline constexpr char kMagic[] = "ARROW1";

}  // namespace timeloom::arrow
