#include "spool/size_limit.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <exception>
#include <span>
#include <system_error>
#include <vector>

#include "core/life.hpp"
#include "os/directory.hpp"
#include "os/file.hpp"
#include "spool/gpu_format.hpp"
#include "spool/spool_format.hpp"

namespace timeloom::spool {
namespace {

struct LogFile {
  std::string spool;
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;
  std::int64_t time = 0;  // of the last append, in ns
  bool growing = false;   // a process appends to it
};

struct Usage {
  std::uint64_t bytes = 0;
  std::vector<LogFile> files;  // that are not empty; all of them finished
};

// The files of one log in the order in which they were written. `ring` gets the bytes of the other
// files that grow.
std::vector<LogFile> log_files(const os::Directory& directory, const std::string& spool,
                               std::uint64_t& ring) {
  std::vector<LogFile> files;
  int error = 0;
  for (const std::string& name : directory.names(&error)) {
    const auto facts = directory.facts(name);
    if (!facts) continue;
    if (name == kRingName || name == kGpuFile || name == kLogCopyName) ring += facts->bytes;
    if (const auto number = log_number(name)) {
      files.push_back({spool, *number, facts->bytes, facts->changed_ns});
    }
  }
  std::ranges::sort(files, {}, &LogFile::number);
  return files;
}

// Files of one process are dropped in order, even if the system's clock is set back.
void put_in_order(std::vector<LogFile>& files) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    files[i].time = std::max(files[i].time, files[i - 1].time);
  }
}

bool is_alive(const os::Directory& spool) {
  return alive([&](const std::string& name, int* error) { return spool.open_file(name, error); }) !=
         Alive::kNo;
}

// `own`: the spool that is about to start a new file.
Usage usage_of(const os::Directory& spools, const std::string& own, std::uint64_t file_size) {
  Usage usage;
  int error = 0;
  for (const std::string& name : spools.names(&error)) {
    const os::Directory spool = spools.open_below(name, &error);
    if (!spool.is_open()) continue;
    std::vector<LogFile> files = log_files(spool, name, usage.bytes);
    if (files.empty()) continue;
    files.back().growing = name != own && is_alive(spool);
    put_in_order(files);
    for (LogFile& file : files) {
      usage.bytes += file.growing ? std::max(file.bytes, file_size) : file.bytes;
      if (!file.growing && file.bytes > 0) usage.files.push_back(std::move(file));
    }
  }
  std::ranges::stable_sort(usage.files, {}, &LogFile::time);
  return usage;
}

std::uint64_t events_in(const os::File& file) {
  std::uint64_t events = 0;
  int error = 0;
  PackedHeader header{};  // or one that has the size and the events at the same place
  const auto bytes = std::as_writable_bytes(std::span(&header, 1));
  for (std::uint64_t offset = 0; file.is_open();) {
    if (file.read_at(offset, bytes, &error) != sizeof header) break;
    if (header.magic != kSegmentMagic && header.magic != kPackedMagic) break;
    events += number_in(header.events);
    offset +=
        sizeof header + (header.magic == kPackedMagic ? bytes_in_log(header.stored) : header.size);
  }
  return events;
}

// Counted first: a kill between the two steps makes the count too large rather than too
// small. True also if another process was faster, which has counted them then.
bool remove_file(const os::Directory& spools, const LogFile& file,
                 std::atomic<std::uint64_t>& dropped) {
  int error = 0;
  const os::Directory spool = spools.open_below(file.spool, &error);
  if (!spool.is_open()) return error == ENOENT;
  const std::string name = log_name(file.number);
  const std::uint64_t events = events_in(spool.open_file(name, &error));
  dropped.fetch_add(events, std::memory_order_relaxed);
  if (::unlinkat(spool.fd(), name.c_str(), 0) == 0) return true;
  dropped.fetch_sub(events, std::memory_order_relaxed);
  return errno == ENOENT;
}

bool take(const SizeLimit& limit, const KnownDirectory& place, const std::string& own,
          std::uint64_t bytes, std::uint64_t file_size, std::atomic<std::uint64_t>& dropped) {
  int error = 0;
  const os::Directory spools = place.open(&error);
  if (!spools.is_open()) return true;  // as if they had been removed
  Usage usage = usage_of(spools, own, file_size);
  if (limit.at_limit != AtLimit::kKeepNewest) return usage.bytes + bytes <= limit.bytes;
  for (const LogFile& file : usage.files) {
    if (usage.bytes + bytes <= limit.bytes) break;
    if (remove_file(spools, file, dropped)) usage.bytes -= std::min(usage.bytes, file.bytes);
  }
  return true;
}

}  // namespace

std::string log_name(std::uint32_t number) {
  return number == 0 ? std::string(kLogName) : kLogName + ("-" + std::to_string(number));
}

std::optional<std::uint32_t> log_number(std::string_view name) noexcept {
  if (name == kLogName) return 0;
  if (!name.starts_with("log-")) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 4, end, number);
  if (error != std::errc{} || stop != end || number == 0) return std::nullopt;
  return number;
}

std::uint64_t log_file_size(const SizeLimit& limit, std::uint32_t segment_size) noexcept {
  constexpr std::uint64_t kFiles = 64;  // so that little goes at a time
  return std::max<std::uint64_t>(limit.bytes / kFiles, segment_size);
}

bool take_space(const SizeLimit& limit, const KnownDirectory& spools, const std::string& own,
                std::uint64_t bytes, std::uint64_t file_size,
                std::atomic<std::uint64_t>& dropped) noexcept {
  try {
    return take(limit, spools, own, bytes, file_size, dropped);
  } catch (const std::exception&) {
    return true;  // no memory to look; the next file will
  }
}

}  // namespace timeloom::spool
