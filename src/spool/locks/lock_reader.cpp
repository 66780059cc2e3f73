#include "spool/locks/lock_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "core/checksum.hpp"
#include "os/file.hpp"

namespace timeloom::spool {
namespace {

// The bytes of one table, of which the process may change counts while they are read.
class LockBytes {
 public:
  LockBytes(const os::File& file, LockTable table, std::uint64_t used) {
    const LockTableLayout& layout = kLockLayout[table];
    bytes_.resize(std::min(used, layout.most) * layout.entry);
    int error = 0;
    const std::size_t read =
        file.read_at(layout.offset, std::as_writable_bytes(std::span(bytes_)), &error);
    bytes_.resize(read / layout.entry * layout.entry);
    whole_ = bytes_.size() == used * layout.entry;
  }
  bool whole() const noexcept { return whole_; }
  std::string_view text() const noexcept { return {bytes_.data(), bytes_.size()}; }
  std::size_t size(std::size_t entry) const noexcept { return bytes_.size() / entry; }
  template <typename Value>
  Value at(std::size_t offset) const noexcept {
    Value value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

 private:
  std::vector<char> bytes_;
  bool whole_ = false;
};

class LockTablesReader {
 public:
  LockTablesReader(const os::File& file, const std::uint64_t (&used)[kLockTables], LockData& data)
      : texts_(file, kLockTexts, used[kLockTexts]), data_(data) {
    data_.damaged |= !texts_.whole();
    read(LockBytes(file, kLockSites, used[kLockSites]), data_.sites, &LockTablesReader::site);
    read(LockBytes(file, kLockHolds, used[kLockHolds]), data_.holds, &LockTablesReader::hold);
    read(LockBytes(file, kLockThreads, used[kLockThreads]), data_.threads,
         &LockTablesReader::thread);
    read(LockBytes(file, kLockWaits, used[kLockWaits]), data_.waits, &LockTablesReader::wait);
    read(LockBytes(file, kLockWanted, used[kLockWanted]), data_.wanted, &LockTablesReader::wanted);
    read(LockBytes(file, kLockCircles, used[kLockCircles]), data_.circles,
         &LockTablesReader::circle);
    for (LockData::Thread& thread : data_.threads) {
      if (thread.wanted > data_.wanted.size()) thread.wanted = 0;
    }
  }

 private:
  template <typename Entry>
  using Make = bool (LockTablesReader::*)(const LockBytes&, std::size_t, Entry&) const;

  static constexpr std::size_t entry_of(const LockData::Site&) { return sizeof(LockSite); }
  static constexpr std::size_t entry_of(const LockData::Hold&) { return sizeof(LockHold); }
  static constexpr std::size_t entry_of(const LockData::Thread&) { return sizeof(LockThread); }
  static constexpr std::size_t entry_of(const LockData::Wait&) { return sizeof(LockWait); }
  static constexpr std::size_t entry_of(const LockData::Wanted&) { return sizeof(LockWanted); }
  static constexpr std::size_t entry_of(const LockData::Circle&) { return sizeof(LockCircle); }

  // Stops at the first entry that names others that are not there.
  template <typename Entry>
  void read(const LockBytes& bytes, std::vector<Entry>& to, Make<Entry> make) {
    data_.damaged |= !bytes.whole();
    const std::size_t size = entry_of(Entry{});
    for (std::size_t i = 0; i < bytes.size(size); ++i) {
      Entry entry;
      if (!(this->*make)(bytes, i * size, entry)) {
        data_.damaged = true;
        return;
      }
      to.push_back(std::move(entry));
    }
  }

  std::string text(std::uint32_t offset) const {
    const std::string_view all = texts_.text();
    if (offset >= all.size()) return {};
    const std::string_view rest = all.substr(offset, kLongestLockText);
    return std::string(rest.substr(0, rest.find('\0')));
  }
  LockData::Place place(const LockBytes& bytes, std::size_t offset) const {
    const auto from = bytes.at<LockPlace>(offset);
    return {text(from.file), text(from.function), from.line};
  }
  static std::uint64_t count(const LockBytes& bytes, std::size_t offset) {
    return bytes.at<std::uint64_t>(offset);
  }
  static std::uint32_t number(const LockBytes& bytes, std::size_t offset) {
    return bytes.at<std::uint32_t>(offset);
  }

  bool site(const LockBytes& bytes, std::size_t at, LockData::Site& site) const {
    const std::uint32_t kind = number(bytes, at + offsetof(LockSite, kind));
    if (kind < 1 || kind > static_cast<std::uint32_t>(LockKind::kSemaphore)) return false;
    site = {place(bytes, at + offsetof(LockSite, place)),
            text(number(bytes, at + offsetof(LockSite, maker))),
            static_cast<LockKind>(kind),
            number(bytes, at + offsetof(LockSite, unmade)) != 0,
            count(bytes, at + offsetof(LockSite, made)),
            count(bytes, at + offsetof(LockSite, refused)),
            count(bytes, at + offsetof(LockSite, foreign))};
    return true;
  }
  bool hold(const LockBytes& bytes, std::size_t at, LockData::Hold& hold) const {
    hold = {number(bytes, at + offsetof(LockHold, site)),
            place(bytes, at + offsetof(LockHold, place)),
            count(bytes, at + offsetof(LockHold, takes)),
            count(bytes, at + offsetof(LockHold, held)),
            count(bytes, at + offsetof(LockHold, longest)),
            count(bytes, at + offsetof(LockHold, blocked))};
    return hold.site < data_.sites.size();
  }
  bool thread(const LockBytes& bytes, std::size_t at, LockData::Thread& thread) const {
    thread = {number(bytes, at + offsetof(LockThread, location)),
              number(bytes, at + offsetof(LockThread, ended)) != 0,
              number(bytes, at + offsetof(LockThread, wanted)),
              place(bytes, at + offsetof(LockThread, place)),
              count(bytes, at + offsetof(LockThread, since))};
    return true;
  }
  bool wait(const LockBytes& bytes, std::size_t at, LockData::Wait& wait) const {
    wait = {number(bytes, at + offsetof(LockWait, site)),
            number(bytes, at + offsetof(LockWait, thread)),
            place(bytes, at + offsetof(LockWait, place)),
            count(bytes, at + offsetof(LockWait, waits)),
            count(bytes, at + offsetof(LockWait, waited)),
            count(bytes, at + offsetof(LockWait, longest))};
    return wait.site < data_.sites.size() && wait.thread < data_.threads.size();
  }
  bool wanted(const LockBytes& bytes, std::size_t at, LockData::Wanted& wanted) const {
    wanted = {number(bytes, at + offsetof(LockWanted, site)),
              number(bytes, at + offsetof(LockWanted, owner)),
              place(bytes, at + offsetof(LockWanted, place)),
              count(bytes, at + offsetof(LockWanted, since))};
    if (wanted.site >= data_.sites.size()) wanted.site = UINT32_MAX;  // a lock without a place
    return wanted.owner <= data_.threads.size();
  }
  bool circle(const LockBytes& bytes, std::size_t at, LockData::Circle& circle) const {
    circle = {number(bytes, at + offsetof(LockCircle, circle)),
              number(bytes, at + offsetof(LockCircle, thread)),
              place(bytes, at + offsetof(LockCircle, place)),
              number(bytes, at + offsetof(LockCircle, site)),
              place(bytes, at + offsetof(LockCircle, taken_at)),
              count(bytes, at + offsetof(LockCircle, closed))};
    if (circle.site >= data_.sites.size()) circle.site = UINT32_MAX;  // a lock without a place
    return circle.circle <= data_.circles.size() && circle.thread < data_.threads.size();
  }

  LockBytes texts_;
  LockData& data_;
};

}  // namespace

LockData read_locks(const SpoolDirectory& directory) {
  LockData data;
  int error = 0;
  const os::File file = directory.open(kLockFile, &error);
  if (error != 0) return data;
  data.exists = true;
  std::uint64_t words[sizeof(LockHeader) / sizeof(std::uint64_t)] = {};
  const auto bytes = std::as_writable_bytes(std::span(words));
  const bool read = file.read_at(0, bytes, &error) == bytes.size();
  const auto check = static_cast<std::uint32_t>(words[1] >> 32);
  data.damaged = !read || words[0] != kLockMagic ||
                 static_cast<std::uint16_t>(words[1]) != kLockVersion ||
                 check != checksum(bytes.data(), offsetof(LockHeader, check));
  if (data.damaged) return data;
  std::uint64_t used[kLockTables];
  std::copy_n(words + offsetof(LockHeader, used) / 8, kLockTables, used);
  data.last = words[offsetof(LockHeader, last) / 8];
  data.end = words[offsetof(LockHeader, end) / 8];
  data.lost = words[offsetof(LockHeader, lost) / 8];
  LockTablesReader(file, used, data);
  return data;
}

}  // namespace timeloom::spool
