#include "record/locks/lock_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/checksum.hpp"
#include "record/auxiliary_file.hpp"

namespace timeloom::record {
namespace {

using spool::kLockLayout;
using spool::LockTable;

constexpr std::uint64_t kSpaceStep = 16384;  // bytes that are allocated at once

}  // namespace

std::shared_ptr<LockFile> LockFile::open() {
  const KnownDirectory spool = running_spool();
  if (spool.path().empty()) return nullptr;
  int error = 0;
  os::File file = spool.create_file(spool::kLockFile, &error);
  if (error == 0) error = file.extend(spool::kLockFileSize);
  if (error == 0) error = file.allocate(0, kLockLayout[0].offset);
  if (error != 0) return nullptr;
  os::Mapping mapping = os::Mapping::map_later(file, 0, spool::kLockFileSize, &error);
  if (error != 0 || os::Mapping::touch(mapping.data(), kLockLayout[0].offset) != 0) return nullptr;
  std::shared_ptr<LockFile> opened(new LockFile(std::move(file), std::move(mapping)));
  spool::LockHeader& header = opened->header();
  header.magic = spool::kLockMagic;
  header.version = spool::kLockVersion;
  header.check =
      checksum(reinterpret_cast<const std::byte*>(&header), offsetof(spool::LockHeader, check));
  // The empty text comes first.
  return opened->add(spool::kLockTexts, 1) == 0 ? opened : nullptr;
}

LockFile::LockFile(os::File file, os::Mapping mapping) noexcept
    : file_(std::move(file)),
      mapping_(std::move(mapping)),
      header_(reinterpret_cast<spool::LockHeader*>(mapping_.data())) {}

bool LockFile::make_space(LockTable table, std::uint64_t entries) noexcept {
  const spool::LockTableLayout& layout = kLockLayout[table];
  if (entries > layout.most) return false;
  const std::uint64_t whole = (layout.entry * layout.most + 4095) / 4096 * 4096;
  const std::uint64_t wanted = entries * layout.entry;
  while (space_[table] < wanted) {
    const std::uint64_t step = std::min(kSpaceStep, whole - space_[table]);
    const std::uint64_t from = layout.offset + space_[table];
    if (file_.allocate(from, step) != 0) return false;
    if (os::Mapping::touch(mapping_.data() + from, step) != 0) return false;
    space_[table] += step;
  }
  return true;
}

std::uint32_t LockFile::add(LockTable table, std::uint64_t count) noexcept {
  const std::uint64_t used = header_->used[table].load(std::memory_order_relaxed);
  if (!make_space(table, used + count)) {
    header_->lost.fetch_add(1, std::memory_order_relaxed);
    return kNone;
  }
  header_->used[table].store(used + count, std::memory_order_release);
  return static_cast<std::uint32_t>(used);
}

std::uint32_t LockFile::text(std::string_view text) noexcept {
  text = text.substr(0, std::min(text.find('\0'), spool::kLongestLockText));
  if (text.empty()) return 0;
  const std::uint32_t at = add(spool::kLockTexts, text.size() + 1);
  if (at == kNone) return 0;
  std::memcpy(mapping_.data() + kLockLayout[spool::kLockTexts].offset + at, text.data(),
              text.size());
  return at;
}

bool LockFile::copy_names(LockFile& other) noexcept {
  for (const LockTable table : {spool::kLockTexts, spool::kLockSites, spool::kLockHolds}) {
    const std::uint64_t used = other.header_->used[table].load(std::memory_order_acquire);
    if (!make_space(table, used)) return false;
    const std::uint64_t from = kLockLayout[table].offset;
    std::memcpy(mapping_.data() + from, other.mapping_.data() + from,
                used * kLockLayout[table].entry);
    header_->used[table].store(used, std::memory_order_relaxed);
  }
  for (std::uint32_t i = 0; i < header_->used[spool::kLockSites]; ++i) {
    site(i).made = site(i).refused = site(i).foreign = 0;
  }
  for (std::uint32_t i = 0; i < header_->used[spool::kLockHolds]; ++i) {
    hold(i).takes = hold(i).held = hold(i).longest = hold(i).blocked = 0;
  }
  return true;
}

}  // namespace timeloom::record
