#include "record/native/memory_file.hpp"

#include <cerrno>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "core/checksum.hpp"
#include "os/clock.hpp"
#include "os/memory.hpp"
#include "record/auxiliary_file.hpp"

namespace timeloom::record {
namespace {

constexpr std::uint64_t kPathStep = 65536;  // bytes that are allocated at once
constexpr std::uint64_t kHoldingStep = 40'960;
constexpr std::uint64_t kBlockStep = 8192;  // blocks of the log, the same

}  // namespace

std::unique_ptr<MemoryFile> MemoryFile::open(std::uint64_t interval, bool forked,
                                             int& error) noexcept try {
  error = 0;
  const KnownDirectory spool = running_spool();
  if (spool.path().empty()) return nullptr;
  os::File file = spool.create_file(spool::kMemoryName, &error);
  if (error == 0) error = file.extend(spool::kMemoryFileSize);
  if (error != 0) return nullptr;
  os::Mapping mapping = os::Mapping::map_later(file, 0, spool::kMemoryBlocksAt, &error);
  if (error != 0) return nullptr;
  error = ENOSPC;
  std::unique_ptr<MemoryFile> opened(new MemoryFile(std::move(file), std::move(mapping)));
  std::uint64_t head = 0;
  const std::uint64_t first = spool::kMemoryPathsAt + sizeof(spool::MemoryPath);
  if (!opened->make_space(head, spool::kMemoryPathsAt, spool::kMemoryPathsAt) ||
      !opened->make_space(opened->paths_end_, first, kPathStep)) {
    return nullptr;
  }
  spool::MemoryHeader& header = *opened->header_;
  header.magic = spool::kMemoryMagic;
  header.version = spool::kMemoryVersion;
  header.forked = forked ? 1 : 0;
  header.check =
      checksum(reinterpret_cast<const std::byte*>(&header), offsetof(spool::MemoryHeader, check));
  header.interval = interval;
  header.paths = spool::kFirstMemoryPath;
  opened->start(0);
  error = 0;
  return opened;
} catch (const std::exception&) {
  error = ENOMEM;
  return nullptr;
}

bool MemoryFile::hold_all(bool log_each) noexcept {
  if (!make_space(holdings_end_, spool::kMemoryHoldingsAt + 1, kHoldingStep)) return false;
  header_->all.store(log_each ? spool::kMemoryEachBlock : spool::kMemoryAllBlocks);
  return true;
}

void MemoryFile::start(std::uint64_t live) noexcept {
  spool::MemoryHeader& header = *header_;
  header.start = os::now();
  header.live_at_start = header.live = live;
  if (is_more(live, 0)) header.peak = live;
  header.peak_ticks = header.start;
}

MemoryFile::MemoryFile(os::File file, os::Mapping mapping) noexcept
    : file_(std::move(file)),
      mapping_(std::move(mapping)),
      header_(reinterpret_cast<spool::MemoryHeader*>(mapping_.data())),
      paths_(reinterpret_cast<spool::MemoryPath*>(mapping_.data() + spool::kMemoryPathsAt)),
      holdings_(
          reinterpret_cast<spool::MemoryHolding*>(mapping_.data() + spool::kMemoryHoldingsAt)),
      paths_end_(spool::kMemoryPathsAt),
      holdings_end_(spool::kMemoryHoldingsAt) {}

bool MemoryFile::make_space(std::uint64_t& allocated, std::uint64_t end,
                            std::uint64_t step) noexcept {
  if (end <= allocated) return true;
  if (file_.allocate(allocated, step) != 0) return false;
  if (os::Mapping::touch(mapping_.data() + allocated, step) != 0) return false;
  allocated += step;
  return true;
}

bool MemoryFile::make_log_space(std::uint64_t blocks) noexcept {
  constexpr std::uint64_t kSize = sizeof(spool::MemoryBlock);
  static_assert(kPartBlocks % kBlockStep == 0 && spool::kMemoryBlocksAt % 4096 == 0);
  if (blocks > spool::kMemoryBlocks) return false;
  for (; log_space_ < blocks; log_space_ += kBlockStep) {
    const std::uint64_t number = log_space_ / kPartBlocks, inside = log_space_ % kPartBlocks;
    const std::uint64_t at = spool::kMemoryBlocksAt + log_space_ * kSize;
    if (file_.allocate(at, kBlockStep * kSize) != 0) return false;  // opens the file again
    os::Mapping& part = log_[number];
    if (part.data() == nullptr) {
      int error = 0;
      part = os::Mapping::map_later(file_, at, kPartBlocks * kSize, &error);
      if (error != 0) return false;
    }
    if (os::Mapping::touch(part.data() + inside * kSize, kBlockStep * kSize) != 0) return false;
  }
  return true;
}

MemoryFile::PathId MemoryFile::add(PathId parent, std::uint32_t region,
                                   std::uint32_t location) noexcept {
  const std::uint64_t number = header_->paths.load(std::memory_order_relaxed);
  const std::uint64_t end = spool::kMemoryPathsAt + (number + 1) * sizeof(spool::MemoryPath);
  const std::uint64_t holdings_end =
      spool::kMemoryHoldingsAt + (number + 1) * sizeof(spool::MemoryHolding);
  if (number >= spool::kMemoryPaths || !make_space(paths_end_, end, kPathStep) ||
      (holds_all() && !make_space(holdings_end_, holdings_end, kHoldingStep))) {
    return kElsewhere;
  }
  spool::MemoryPath& path = paths_[number];
  path.parent = parent;
  path.region = region;
  path.location = location;
  header_->paths.store(number + 1, std::memory_order_release);
  return static_cast<PathId>(number);
}

MemoryFile::PathId MemoryFile::add_thread(std::uint32_t location) noexcept {
  return add(0, spool::kMemoryThread, location);
}

MemoryFile::PathId MemoryFile::add_path(PathId parent, std::uint32_t region) noexcept {
  return parent == kElsewhere ? kElsewhere : add(parent, region, paths_[parent].location);
}

std::uint64_t MemoryFile::append(const spool::MemoryBlock& block) noexcept {
  const std::uint64_t number = header_->blocks.load(std::memory_order_relaxed);
  const os::Mapping& part = log_[number / kPartBlocks];
  reinterpret_cast<spool::MemoryBlock*>(part.data())[number % kPartBlocks] = block;
  header_->blocks.store(number + 1, std::memory_order_release);
  header_->live.store(block.live, std::memory_order_relaxed);
  return number;
}

// A birth without space for its death would be held for ever.
std::uint64_t MemoryFile::add_birth(PathId path, std::uint64_t bytes, std::uint64_t live,
                                    bool whole) noexcept {
  if (!make_log_space(header_->blocks.load(std::memory_order_relaxed) + alive_ + 2)) {
    count_lost_block();
    return kNone;
  }
  ++alive_;
  const std::uint64_t what = path | (whole ? spool::MemoryBlock::kWhole : 0);
  return append({os::now(), what, bytes, live});
}

void MemoryFile::add_death(std::uint64_t birth, std::uint64_t bytes, std::uint64_t live) noexcept {
  if (birth == kNone) return;
  --alive_;
  append({os::now(), birth | spool::MemoryBlock::kDeath, bytes, live});
}

// Another thread may note a higher one at the same time; the last word is then within one
// allocation of the truth.
void MemoryFile::note_peak(std::uint64_t live) noexcept {
  header_->peak.store(live, std::memory_order_relaxed);
  header_->peak_number.fetch_add(1, std::memory_order_relaxed);
  header_->peak_ticks.store(os::now(), std::memory_order_relaxed);
  header_->peak_blocks.store(header_->blocks.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
}

void MemoryFile::end(std::uint64_t live) noexcept {
  header_->live.store(live, std::memory_order_relaxed);
  header_->resident.store(os::resident_memory().now, std::memory_order_relaxed);
  header_->end.store(os::now(), std::memory_order_release);
  const std::uint64_t blocks = header_->blocks.load(std::memory_order_relaxed);
  (void)file_.truncate(spool::kMemoryBlocksAt + blocks * sizeof(spool::MemoryBlock));
}

}  // namespace timeloom::record
