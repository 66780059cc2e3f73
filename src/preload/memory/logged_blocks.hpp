// The blocks whose births are in the log of memory, until their deaths are, too.
//
// Any thread may ask; other functions need the lock of the account. Nothing is allocated or thrown.
#pragma once

#include <cstdint>

#include "preload/memory/address_filter.hpp"
#include "preload/memory/fixed_table.hpp"

namespace timeloom::preload {

// `File`: record::MemoryFile. At most 3/4 of 2^kBits blocks at a time.
template <unsigned kBits, typename File>
class LoggedBlocks {
 public:
  // Logs the birth of a block of the path. Without space for it, the block counts as
  // lost, and nothing is logged: its life is not known.
  void add(File& file, std::uint32_t path, std::uint64_t block, std::uint64_t bytes,
           std::uint64_t live) noexcept {
    if (births_.is_full()) return file.count_lost_block();
    const std::uint64_t birth = file.add_birth(path, bytes, live, file.logs_each());
    if (birth == File::kNone) return;
    (void)births_.insert(block, birth);
    filter_.add(block);
  }
  // Logs the death of a block; nothing for one whose birth is not in the log.
  void remove(File& file, std::uint64_t block, std::uint64_t bytes, std::uint64_t live) noexcept {
    const std::uint64_t* const birth = births_.find(block);
    if (birth == nullptr) return;
    file.add_death(*birth, bytes, live);
    births_.erase(block);
    filter_.remove(block);
  }
  // False: it is certainly not here.
  bool may_have(std::uint64_t block) const noexcept { return filter_.may_have(block); }
  void clear() noexcept {
    births_.clear();
    filter_.clear();
  }

 private:
  FixedTable<kBits> births_;  // from the address of a block to the number of its birth
  AddressFilter filter_;
};

}  // namespace timeloom::preload
