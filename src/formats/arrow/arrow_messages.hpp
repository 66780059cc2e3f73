// The messages of an Arrow IPC file, by their schemas Message.fbs, Schema.fbs and File.fbs.
//
// Plain functions; nothing throws but what memory can, unless it says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exchange/event_table.hpp"

namespace timeloom::arrow {

// The rows that a batch has of one column, and its buffers, each with its padding.
struct ColumnPart {
  std::int64_t nulls = 0;
  std::vector<std::string> buffers;
};

// A message, as the file has it.
struct Message {
  std::string head;  // with its length before it
  std::string body;
};

// Columns of texts are dictionaries with the places of the columns as ids.
Message schema_message(const std::vector<exchange::Column>& columns);
// The words of the column at that place. Throws Error where they are too many bytes.
Message dictionary_message(std::size_t place, const exchange::Column& column);
Message batch_message(std::int64_t rows, const std::vector<ColumnPart>& columns);

// The bytes that the place of a word takes, among so many.
std::size_t index_size(const exchange::Words& words);

// The place of a batch in the file.
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
