#include "spool/log_packing.hpp"

#include <cerrno>
#include <exception>
#include <utility>

#include "spool/size_limit.hpp"
#include "spool/spool_format.hpp"

namespace timeloom::spool {
namespace {

// The bytes of a segment in the log, with its head, which is read as the head of a packed one. 0:
// it is not one.
std::uint64_t bytes_of_segment(const PackedHeader& head) noexcept {
  const bool packed = head.magic == kPackedMagic;
  if ((!packed && head.magic != kSegmentMagic) || head.size > kMaxSegmentSize) return 0;
  if (packed && head.stored > head.size) return 0;
  return sizeof head + (packed ? bytes_in_log(head.stored) : std::uint64_t{head.size});
}

}  // namespace

void LogPacking::add(std::uint32_t number) noexcept {
  const std::lock_guard lock(mutex_);
  if (off_) return;
  try {
    files_.push_back(number);
    files_left_.fetch_add(1, std::memory_order_relaxed);
  } catch (const std::exception&) {  // no memory: the file stays as it is
  }
}

// The newest file first: where the oldest ones are dropped, it stays longest.
bool LogPacking::begin(const os::Directory& directory) {
  {
    const std::lock_guard lock(mutex_);
    if (files_.empty()) return false;
    number_ = files_.back();
    files_.pop_back();
  }
  int error = 0;
  const os::File log = directory.open_file(log_name(*number_), &error);
  if (error == 0) size_ = log.size(&error);
  if (error == 0) copy_ = directory_.create_file(kLogCopyName, &error);
  read_ = written_ = 0;
  gain_ = {};
  return error == 0;
}

LogPacking::Gain LogPacking::step(EarlyPacking& packing, bool count) noexcept {
  if (!has_work()) return {};
  if (filters_.added()) return drop_work(), Gain{};
  try {
    int error = 0;
    const os::Directory directory = directory_.open(&error);
    if (error == 0 && (number_ || begin(directory))) {
      // Opened anew for each step: the program may close descriptors of ours in between.
      const os::File log = directory.open_file(log_name(*number_), &error);
      if (error == 0 && read_ >= size_) return end(directory, log);
      if (error == 0 && copy_segment(log, packing, count)) return {};
    }
  } catch (const std::exception&) {  // no memory
  }
  // Where no file could be begun, the next step would find the same.
  if (number_) {
    give_up();
  } else {
    stop();
  }
  return {};
}

bool LogPacking::read_segment(const os::File& log) {
  PackedHeader head{};
  int error = 0;
  const auto bytes = std::as_writable_bytes(std::span(&head, 1));
  if (log.read_at(read_, bytes, &error) != sizeof head) return false;
  const std::uint64_t size = bytes_of_segment(head);
  if (size == 0 || size > size_ - read_) return false;
  segment_.resize(size / sizeof segment_[0]);
  return log.read_at(read_, std::as_writable_bytes(std::span(segment_)), &error) == size;
}

// The segment that was read, packed. Empty: it is packed already, gets no smaller, or is damaged.
std::span<const std::byte> LogPacking::packed(EarlyPacking& packing, bool count) noexcept {
  const auto& head = *reinterpret_cast<const SegmentHeader*>(segment_.data());
  const std::uint64_t* const words = segment_.data() + sizeof head / sizeof segment_[0];
  if (head.magic != kSegmentMagic || head.records != records_check(records_of(head, words)) ||
      head.seal != segment_seal(head.check, head.size, head.records)) {
    return {};
  }
  return packing.copy(head, words) ? packing.pack(count) : std::span<const std::byte>();
}

bool LogPacking::copy_segment(const os::File& log, EarlyPacking& packing, bool count) {
  if (!read_segment(log)) return false;
  const std::span<const std::byte> whole = std::as_bytes(std::span(segment_));
  std::span<const std::byte> bytes = packed(packing, count);
  if (!bytes.empty()) {
    gain_.records += whole.size() - sizeof(SegmentHeader);
    gain_.stored += bytes.size();
  } else {
    bytes = whole;
  }
  if (written_ + bytes.size() > size_ / 2 || copy_.write_at(written_, bytes) != 0) return false;
  read_ += whole.size();
  written_ += bytes.size();
  return true;
}

// The copy gets the time of the file, by which the run drops the oldest ones.
LogPacking::Gain LogPacking::end(const os::Directory& directory, const os::File& log) noexcept {
  int error = copy_.take_times_of(log);
  if (error == 0) error = directory.exchange(kLogCopyName, log_name(*number_));
  const Gain gain = error == 0 ? gain_ : Gain{};
  give_up();
  // The file system cannot exchange files.
  if (error == EINVAL || error == ENOSYS) stop();
  return gain;
}

// Removes the copy, or the file that it has replaced.
void LogPacking::give_up() noexcept {
  if (std::exchange(copy_, os::File()).is_open()) directory_.remove_file(kLogCopyName);
  if (std::exchange(number_, std::nullopt)) files_left_.fetch_sub(1, std::memory_order_relaxed);
}

void LogPacking::stop() noexcept {
  if (!filters_.added()) give_up();
  drop_work();
}

// Makes no call of the system.
void LogPacking::drop_work() noexcept {
  if (std::exchange(number_, std::nullopt)) files_left_.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  off_ = true;
  files_left_.fetch_sub(files_.size(), std::memory_order_relaxed);
  files_.clear();
}

}  // namespace timeloom::spool
