#include "record/native/memory_file.hpp"

#include <cerrno>
#include <cstddef>
#include <exception>
#include <new>
#include <utility>

#include "core/checksum.hpp"
#include "os/clock.hpp"
#include "record/auxiliary_file.hpp"

namespace timeloom::record {
namespace {

constexpr std::uint64_t kPathStep = 65536;  // bytes that are allocated at once
constexpr std::uint64_t kHoldingStep = 40'960;
constexpr std::uint64_t kBlockStep = 262144;  // the same of the log

}  // namespace

std::unique_ptr<MemoryFile> MemoryFile::open(std::uint64_t interval, bool forked) noexcept try {
  const KnownDirectory spool = running_spool();
  if (spool.path().empty()) return nullptr;
  int error = 0;
  os::File file = spool.create_file(spool::kMemoryName, &error);
  if (error == 0) error = file.extend(spool::kMemoryFileSize);
  if (error != 0) return nullptr;
  os::Mapping mapping = os::Mapping::map_later(file, 0, spool::kMemoryFileSize, &error);
  if (error != 0) return nullptr;
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
  return opened;
} catch (const std::exception&) {
  return nullptr;
}

bool MemoryFile::hold_all() noexcept {
  if (!make_space(holdings_end_, spool::kMemoryHoldingsAt + 1, kHoldingStep)) return false;
  header_->all.store(1);
  return true;
}

void MemoryFile::start(std::uint64_t live) noexcept {
  spool::MemoryHeader& header = *header_;
  header.start = os::now();
  header.live_at_start = live;
  header.live = header.peak = live;
  header.peak_ticks = header.start;
}

MemoryFile::MemoryFile(os::File file, os::Mapping mapping) noexcept
    : file_(std::move(file)),
      mapping_(std::move(mapping)),
      header_(reinterpret_cast<spool::MemoryHeader*>(mapping_.data())),
      paths_(reinterpret_cast<spool::MemoryPath*>(mapping_.data() + spool::kMemoryPathsAt)),
      holdings_(
          reinterpret_cast<spool::MemoryHolding*>(mapping_.data() + spool::kMemoryHoldingsAt)),
      blocks_(reinterpret_cast<spool::MemoryBlock*>(mapping_.data() + spool::kMemoryBlocksAt)),
      paths_end_(spool::kMemoryPathsAt),
      holdings_end_(spool::kMemoryHoldingsAt),
      blocks_end_(spool::kMemoryBlocksAt) {}

bool MemoryFile::make_space(std::uint64_t& allocated, std::uint64_t end,
                            std::uint64_t step) noexcept {
  if (end <= allocated) return true;
  if (file_.allocate(allocated, step) != 0) return false;
  if (os::Mapping::touch(mapping_.data() + allocated, step) != 0) return false;
  allocated += step;
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
  const std::uint64_t end = spool::kMemoryBlocksAt + (number + 1) * sizeof block;
  if (number >= spool::kMemoryBlocks || !make_space(blocks_end_, end, kBlockStep)) {
    count_lost_block();
    return kNone;
  }
  blocks_[number] = block;
  header_->blocks.store(number + 1, std::memory_order_release);
  header_->live.store(block.live, std::memory_order_relaxed);
  return number;
}

std::uint64_t MemoryFile::add_birth(PathId path, std::uint64_t bytes, std::uint64_t live,
                                    bool whole) noexcept {
  const std::uint64_t what = path | (whole ? spool::MemoryBlock::kWhole : 0);
  return append({os::now(), what, bytes, live});
}

void MemoryFile::add_death(std::uint64_t birth, std::uint64_t bytes, std::uint64_t live) noexcept {
  if (birth != kNone) append({os::now(), birth | spool::MemoryBlock::kDeath, bytes, live});
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
  header_->end.store(os::now(), std::memory_order_release);
  const std::uint64_t blocks = header_->blocks.load(std::memory_order_relaxed);
  (void)file_.truncate(spool::kMemoryBlocksAt + blocks * sizeof(spool::MemoryBlock));
}

}  // namespace timeloom::record
