// The records of a segment, packed: words in, fewer bytes out, and the same words again.
//
// The bytes are a body of streams (src/packing/streams.hpp):
//
//   kCodes       a byte a record: 0 a leave of the region that was entered last; 1 an extended
//                record; 2 a leave of another region; 3 to 254 an enter of a region, whose id has
//                its lowest byte in kRegions and its other bytes, plus 3, here; 255 an enter of a
//                region with a larger id
//   kRegions     the lowest bytes of ids
//   kFarRegions  varints: the ids for the codes 2 and 255
//   kShort, kLow, kRest   the ticks since the record before, modulo 2^36, as in a packed trace
//   kKinds, kCounts   a byte each for an extended record: its sub-kind, its number of words
//   then two for each of these sub-kinds: varints with the differences (zigzag) of the first words,
//   and of the other words, each from the word that takes its place in `expected`
//
// Any records come back as they were, whatever they mean; see docs/formats/spool.md. Both classes
// keep their memory from one segment to the next, and are used by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/event_word.hpp"
#include "packing/streams.hpp"
#include "packing/varint.hpp"

namespace timeloom::spool {

// The regions that are open on a thread and its tracks, as far as the records of a segment show it.
class OpenByRecords {
 public:
  void clear() noexcept;
  void enter(std::uint32_t region) { stack_->push_back(region); }
  // Whether the region that was entered last is left; another one begins anew.
  bool leave(std::uint32_t region) noexcept;
  // The region that was entered last, which is left; UINT32_MAX: it is not known.
  std::uint32_t leave_last() noexcept;
  // Further records belong to this track.
  void track(std::uint64_t index) noexcept { stack_ = &stacks_[index % stacks_.size()]; }

 private:
  std::array<std::vector<std::uint32_t>, 32> stacks_;
  std::vector<std::uint32_t>* stack_ = stacks_.data();
};

// The words that the words of the next extended record are compared with.
class ExpectedWords {
 public:
  void clear() noexcept { words_ = {}; }
  // Of the word at `index` of a record of the kind, whose first word is `first`.
  std::uint64_t& word(std::uint8_t kind, std::size_t index, std::uint64_t first) noexcept {
    const std::size_t place = index == 0 ? 0 : 1 + (first + index) % (kPlaces - 1);
    return words_[kind % kKinds][place];
  }

 private:
  static constexpr std::size_t kKinds = 96, kPlaces = 17;
  std::array<std::array<std::uint64_t, kPlaces>, kKinds> words_{};
};

class SegmentPacker {
 public:
  // Appends the packed records to `to`. False: they are not records, or get no smaller; the
  // appended bytes have no meaning. Throws std::bad_alloc, and Error where zstd has no memory.
  bool pack(std::span<const EventWord> words, packing::Bytes& to);

 private:
  struct Column {
    void reserve(std::size_t most) { bytes.resize(std::max(bytes.size(), most)); }
    void put(std::uint8_t byte) noexcept { bytes[used++] = byte; }
    packing::ByteSpan span() const noexcept { return packing::ByteSpan(bytes).first(used); }
    packing::Bytes bytes;
    std::size_t used = 0;
  };
  struct OfKind {
    packing::Bytes first, others;
  };

  void begin(std::size_t words);
  bool take_apart(std::span<const EventWord> words);
  void put_time(std::uint64_t since) noexcept;
  void put_call(EventWord word);
  bool put_extended(EventWord head, std::span<const EventWord> words);

  Column codes_, regions_, short_, low_, rest_, kinds_, counts_;
  packing::Bytes far_;
  std::array<std::unique_ptr<OfKind>, 96> others_;
  OpenByRecords open_;
  ExpectedWords expected_;
  packing::Compressor compressor_;
  packing::StreamWriter streams_;
};

class SegmentUnpacker {
 public:
  // Replaces `words` by the `size` words that were packed. False: the body is damaged. No more
  // memory is taken than the body can be unpacked to.
  bool unpack(packing::ByteSpan body, std::size_t size, std::vector<EventWord>& words);

 private:
  struct OfKind {
    packing::ByteReader first, others;
  };

  bool begin(packing::ByteSpan body, std::size_t size);
  bool put_together(std::vector<EventWord>& words);
  std::uint64_t time_since() noexcept;
  bool region_of(std::uint8_t code, std::uint32_t& region, bool& enter);
  bool read_words(std::span<EventWord> words);
  bool all_read() const noexcept;

  packing::ByteSpan codes_;
  packing::ByteReader regions_, far_, short_, low_, rest_, kinds_, counts_;
  std::array<OfKind, 96> others_;
  OpenByRecords open_;
  ExpectedWords expected_;
  packing::Decompressor decompressor_;
  packing::StreamReader streams_;
};

}  // namespace timeloom::spool
