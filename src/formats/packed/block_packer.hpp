// Packs the events of one location into blocks (block.hpp).
//
// Used by one thread. Throws Error for events that a block cannot hold, and std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "formats/packed/block.hpp"
#include "formats/packed/definition_counts.hpp"
#include "packing/streams.hpp"

namespace timeloom::packed {

// The bytes that the block takes in a file.
std::uint64_t size_of_block(const PackedBlock& block) noexcept;

class BlockPacker {
 public:
  // `definitions` are complete.
  explicit BlockPacker(const Definitions& definitions);

  // Takes events until the block is full; returns how many it has taken.
  std::size_t add(std::span<const Event> events);
  bool full() const noexcept { return events_ == kBlockEvents; }
  bool empty() const noexcept { return events_ == 0; }
  // Ends the block and starts the next one.
  PackedBlock take();

 private:
  // A byte for each event at most.
  using Column = std::array<std::uint8_t, kBlockEvents>;
  struct Columns {
    Column symbols, times, low, kinds;
    std::array<std::uint8_t, std::size_t{kBlockEvents} * 7> rest;
  };
  struct OfKind {
    Bytes refs;
    Bytes values;
    Expected expected;
  };

  void put_time(std::uint64_t time);
  std::uint8_t enter(std::uint32_t region);
  std::uint8_t leave(std::uint32_t region);
  void other(const Event& event);

  const DefinitionCounts definitions_;
  std::vector<std::uint64_t> places_;  // by region: number of the block | place + 1
  std::vector<std::uint32_t> open_;
  std::unique_ptr<Columns> columns_;
  std::uint32_t block_ = 1;
  std::uint32_t events_ = 0;
  std::uint32_t regions_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::uint32_t last_region_ = 0;
  std::size_t low_ = 0, rest_ = 0, kinds_ = 0;  // bytes used of the columns
  Bytes opened_, new_regions_, far_;
  std::array<std::unique_ptr<OfKind>, kKindCount> others_;
  StreamWriter streams_;
};

}  // namespace timeloom::packed
