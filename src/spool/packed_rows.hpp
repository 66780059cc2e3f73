// Rows of four words, packed: the records of GPUs, and the spans of waiting threads.
//
// Both have two times, then a word whose lower half tells the place (a thread, a queue) and whose
// upper half is a number, then a word of the record's kind. The bytes are a body of streams
// (src/packing/streams.hpp), with a varint for each row, of differences (zigzag) from the row
// before of the same place modulo 16, where nothing else is named:
//
//   0  the place, from the row before
//   1  the first time
//   2  the second time, from the first one of its row
//   3  the number
//   4  the last word
//
// Any rows come back as they were, whatever they mean. Both classes keep their memory and are used
// by one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "packing/streams.hpp"
#include "packing/varint.hpp"

namespace timeloom::spool {

inline constexpr std::size_t kRowWords = 4;
inline constexpr std::size_t kRowStreams = 5;

// The rows with which the next one is compared.
class ExpectedRows {
 public:
  using Row = std::array<std::uint64_t, kRowWords>;
  Row& of(std::uint64_t place) noexcept { return rows_[place % rows_.size()]; }
  std::uint64_t last_place = 0;

 private:
  std::array<Row, 16> rows_{};
};

class RowPacker {
 public:
  // Appends to `to`: the number of rows and the size of the body, each as 4 bytes, and the body.
  // False: that is not smaller than the rows, and the appended bytes have no meaning. Throws
  // std::bad_alloc, and Error where zstd has no memory. REQUIRES: whole rows, fewer than 2^32.
  bool pack(std::span<const std::uint64_t> rows, packing::Bytes& to);

 private:
  std::array<packing::Bytes, kRowStreams> columns_;
  packing::Compressor compressor_;
  packing::StreamWriter streams_;
};

// Packs the records of a writer, if it packs any.
class RecordPacker {
 public:
  void begin() { packer_ = std::make_unique<RowPacker>(); }
  // The packed bytes, with zeros up to a multiple of 8; they stay until the next call. Empty: the
  // caller writes the records as they are, because this writer does not pack, packing would not
  // make them smaller, or memory has run out. When memory has run out, later calls do not pack
  // either. REQUIRES: whole rows.
  std::span<const std::uint8_t> pack(std::span<const std::byte> records) noexcept;

 private:
  std::unique_ptr<RowPacker> packer_;
  std::vector<std::uint64_t> words_;
  packing::Bytes packed_;
};

class RowUnpacker {
 public:
  // Replaces `rows` by the rows of a payload, behind which there may be zeros. False: it is
  // damaged, or has more than `most` rows. No more memory is taken than the bytes can be unpacked
  // to.
  bool unpack(packing::ByteSpan payload, std::size_t most, std::vector<std::uint64_t>& rows);

 private:
  bool put_together(std::span<std::uint64_t> rows);

  std::array<packing::ByteReader, kRowStreams> columns_;
  packing::Decompressor decompressor_;
  packing::StreamReader streams_;
};

}  // namespace timeloom::spool
