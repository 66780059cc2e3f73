#include "spool/early_packing.hpp"

#include <sys/statvfs.h>

#include <cstring>
#include <exception>
#include <new>

#include "core/event_word.hpp"

namespace timeloom::spool {
namespace {

constexpr std::uint64_t kBetweenLooks = 16 << 20;

bool is_on_a_filling_disk(const os::File& file) noexcept {
  struct statvfs disk {};
  if (::fstatvfs(file.fd(), &disk) != 0) return false;
  return is_filling(disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize);
}

}  // namespace

bool EarlyPacking::is_wanted(const os::File& log, std::uint64_t written) noexcept {
  if (wanted_ || !as_needed_ || written < next_look_) return wanted_;
  next_look_ = written + kBetweenLooks;
  wanted_ = written >= kLargeLog || is_on_a_filling_disk(log);
  return wanted_;
}

bool EarlyPacking::copy(const SegmentHeader& header, const std::uint64_t* words) noexcept {
  try {
    if (!memory_) memory_ = std::make_unique<Memory>();
    const auto records = records_of(header, words);
    memory_->words.assign(records.begin(), records.end());
  } catch (const std::bad_alloc&) {
    wanted_ = as_needed_ = false;
    return false;
  }
  header_ = {.magic = kPackedMagic,
             .stored = 0,
             .location = header.location,
             .size = header.size,
             .sequence = header.sequence,
             .base = header.base,
             .check = header.check,
             .records = 0,
             .seal = 0,
             .events = with_tag(0, tag_in(header.events))};
  return true;
}

std::span<const std::byte> EarlyPacking::pack(bool count) noexcept {
  try {
    packing::Bytes& bytes = memory_->bytes;
    bytes.assign(sizeof header_, 0);
    if (!memory_->packer.pack(memory_->words, bytes)) return {};
    header_.stored = static_cast<std::uint32_t>(bytes.size() - sizeof header_);
    header_.records = records_check(memory_->words);
    header_.seal = packed_seal(header_.check, header_.size, header_.records, header_.stored);
    const std::uint64_t events = count ? count_events(memory_->words) : 0;
    header_.events = with_tag(events, tag_in(header_.events));
    bytes.resize(sizeof header_ + bytes_in_log(header_.stored));
    std::memcpy(bytes.data(), &header_, sizeof header_);
    return std::as_bytes(std::span(bytes));
  } catch (const std::exception&) {  // no memory: half of a segment is useless
    wanted_ = as_needed_ = false;
    return {};
  }
}

}  // namespace timeloom::spool
