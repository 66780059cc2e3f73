// Unpacks blocks (block.hpp) whose bytes may be damaged or made by somebody else.
//
// Used by one thread; memory is kept from block to block. Throws std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "formats/packed/block.hpp"
#include "formats/packed/definition_counts.hpp"
#include "formats/packed/part.hpp"
#include "packing/streams.hpp"

namespace timeloom::packed {

class BlockUnpacker {
 public:
  // Events may refer to so many definitions.
  explicit BlockUnpacker(const DefinitionCounts& definitions) : definitions_(definitions) {}
  explicit BlockUnpacker(const Definitions& definitions) : BlockUnpacker(counts_of(definitions)) {}

  // False: the block is damaged, and neither events() nor open() mean anything. Otherwise times do
  // not decrease, regions are left in the opposite order of their enters, and all references are
  // defined.
  bool unpack(const BlockFacts& facts, ByteSpan body);
  const std::vector<Event>& events() const noexcept { return events_; }
  // Translates the block, which is one of the part; false: an id has no meaning. REQUIRES: the
  // unpacker was made with the counts of the part; once for each block.
  bool translate(const PartMeaning& part) noexcept {
    return part.translate(events_) && part.translate_regions(open_) &&
           part.translate_regions(stack_);
  }
  // The regions that are open at the start of the block.
  const std::vector<std::uint32_t>& open() const noexcept { return open_; }
  // The same at its end.
  const std::vector<std::uint32_t>& open_at_end() const noexcept { return stack_; }

 private:
  struct OfKind {
    ByteReader refs;
    ByteReader values;
    Expected expected;
  };

  bool read_open();
  bool read_regions(std::uint32_t events);
  bool read_times(const BlockFacts& facts);
  bool read_events(std::uint32_t events);
  bool read_other(Event& event);

  const DefinitionCounts definitions_;
  StreamReader streams_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> open_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::uint32_t> regions_;
  ByteReader kinds_;
  std::array<OfKind, kKindCount> others_;
};

}  // namespace timeloom::packed
