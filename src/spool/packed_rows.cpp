#include "spool/packed_rows.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace timeloom::spool {
namespace {

struct RowsHead {
  std::uint32_t rows;
  std::uint32_t size;  // of the body
};
static_assert(sizeof(RowsHead) == 8);

constexpr std::uint64_t kPlace = UINT32_MAX;

}  // namespace

bool RowPacker::pack(std::span<const std::uint64_t> rows, packing::Bytes& to) {
  for (packing::Bytes& column : columns_) column.clear();
  ExpectedRows expected;
  const auto put = [this](std::size_t column, std::uint64_t difference) {
    packing::put_varint(columns_[column], packing::zigzag(difference));
  };
  for (std::size_t i = 0; i < rows.size(); i += kRowWords) {
    const std::uint64_t place = rows[i + 2] & kPlace, number = rows[i + 2] >> 32;
    ExpectedRows::Row& before = expected.of(place);
    put(0, place - std::exchange(expected.last_place, place));
    put(1, rows[i] - before[0]);
    put(2, rows[i + 1] - rows[i]);
    put(3, number - before[2]);
    put(4, rows[i + 3] - before[3]);
    before = {rows[i], rows[i + 1], number, rows[i + 3]};
  }
  for (std::size_t i = 0; i < kRowStreams; ++i) {
    streams_.add(compressor_, static_cast<std::uint8_t>(i), columns_[i]);
  }
  const std::size_t start = to.size();
  to.resize(start + sizeof(RowsHead));
  streams_.finish(to);
  const RowsHead head{static_cast<std::uint32_t>(rows.size() / kRowWords),
                      static_cast<std::uint32_t>(to.size() - start - sizeof(RowsHead))};
  std::memcpy(to.data() + start, &head, sizeof head);
  return to.size() - start < rows.size_bytes();
}

std::span<const std::uint8_t> RecordPacker::pack(std::span<const std::byte> records) noexcept try {
  if (!packer_) return {};
  words_.resize(records.size() / 8);
  std::memcpy(words_.data(), records.data(), records.size());
  packed_.clear();
  if (!packer_->pack(words_, packed_)) return {};
  packed_.resize((packed_.size() + 7) / 8 * 8);
  return packed_;
} catch (const std::exception&) {  // no memory
  packer_.reset();
  return {};
}

bool RowUnpacker::unpack(packing::ByteSpan payload, std::size_t most,
                         std::vector<std::uint64_t>& rows) {
  rows.clear();
  RowsHead head{};
  if (payload.size() < sizeof head) return false;
  std::memcpy(&head, payload.data(), sizeof head);
  const packing::ByteSpan body = payload.subspan(sizeof head);
  if (head.size > body.size() || head.rows > most) return false;
  const std::uint64_t bytes = head.rows * std::uint64_t{kRowStreams * packing::kLongestVarint};
  if (!streams_.read(decompressor_, body.first(head.size), bytes)) return false;
  // Sizes that contradict each other are found before there is memory for the rows.
  for (std::size_t i = 0; i < kRowStreams; ++i) {
    const packing::ByteSpan stream = streams_.stream(static_cast<std::uint8_t>(i));
    if (stream.size() < head.rows) return false;
    columns_[i] = packing::ByteReader(stream);
  }
  rows.resize(std::size_t{head.rows} * kRowWords);
  if (put_together(rows)) return true;
  rows.clear();
  return false;
}

bool RowUnpacker::put_together(std::span<std::uint64_t> rows) {
  ExpectedRows expected;
  const auto next = [this](std::size_t column) {
    return packing::unzigzag(columns_[column].varint());
  };
  for (std::size_t i = 0; i < rows.size(); i += kRowWords) {
    const std::uint64_t place = expected.last_place += next(0);
    if (place > kPlace) return false;
    ExpectedRows::Row& before = expected.of(place);
    const std::uint64_t first = before[0] + next(1), second = first + next(2);
    const std::uint64_t number = before[2] + next(3), last = before[3] + next(4);
    if (number > kPlace) return false;
    before = {first, second, number, last};
    rows[i] = first;
    rows[i + 1] = second;
    rows[i + 2] = number << 32 | place;
    rows[i + 3] = last;
  }
  return std::ranges::all_of(
      columns_, [](const packing::ByteReader& one) { return !one.failed() && one.at_end(); });
}

}  // namespace timeloom::spool
