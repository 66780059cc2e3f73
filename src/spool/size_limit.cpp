#include "spool/size_limit.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <new>
#include <system_error>
#include <vector>

#include "os/file.hpp"
#include "spool/format.hpp"

namespace timeloom::spool {
namespace fs = std::filesystem;
namespace {

struct LogFile {
  std::string path;
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;
  std::int64_t time = 0;  // of the last append, in ns
  bool growing = false;   // a process appends to it
};

struct Usage {
  std::uint64_t bytes = 0;
  std::vector<LogFile> files;  // that hold anything; all of them finished
};

std::int64_t time_of(const struct stat& status) {
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// The files of one log in the order in which they were written.
std::vector<LogFile> log_files(const fs::path& spool, std::uint64_t& ring) {
  std::vector<LogFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(spool, error)) {
    const std::string name = entry.path().filename().string();
    struct stat status {};
    if (::stat(entry.path().c_str(), &status) != 0) continue;
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    if (name == kRingName) ring += bytes;
    if (const auto number = log_number(name)) {
      files.push_back({entry.path().string(), *number, bytes, time_of(status)});
    }
  }
  std::ranges::sort(files, {}, &LogFile::number);
  return files;
}

// Files of one process leave in their order, also when somebody sets the clock back.
void put_in_order(std::vector<LogFile>& files) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    files[i].time = std::max(files[i].time, files[i - 1].time);
  }
}

// `own`: the spool that is about to begin a new file.
Usage usage_of(const fs::path& spools, const fs::path& own, std::uint64_t file_size) {
  Usage usage;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(spools, error)) {
    if (!entry.is_directory(error)) continue;
    std::vector<LogFile> files = log_files(entry.path(), usage.bytes);
    if (files.empty()) continue;
    files.back().growing =
        entry.path().filename() != own.filename() && alive(entry.path().string()) != Alive::kNo;
    put_in_order(files);
    for (LogFile& file : files) {
      usage.bytes += file.growing ? std::max(file.bytes, file_size) : file.bytes;
      if (!file.growing && file.bytes > 0) usage.files.push_back(std::move(file));
    }
  }
  std::ranges::stable_sort(usage.files, {}, &LogFile::time);
  return usage;
}

std::uint64_t events_in(const std::string& path) {
  int error = 0;
  const os::File file = os::File::open_read(path, &error);
  std::uint64_t events = 0;
  SegmentHeader header{};
  const auto bytes = std::as_writable_bytes(std::span(&header, 1));
  for (std::uint64_t offset = 0; file.is_open();) {
    if (file.read_at(offset, bytes, &error) != sizeof header) break;
    if (header.magic != kSegmentMagic) break;
    events += header.events;
    offset += sizeof header + header.size;
  }
  return events;
}

// Counted first: killed between the two steps, we have said too much rather than
// too little.
bool remove_file(const std::string& path, std::atomic<std::uint64_t>& dropped) {
  const std::uint64_t events = events_in(path);
  dropped.fetch_add(events, std::memory_order_relaxed);
  if (::unlink(path.c_str()) == 0) return true;
  dropped.fetch_sub(events, std::memory_order_relaxed);
  return errno == ENOENT;  // somebody else did
}

bool take(const SizeLimit& limit, const fs::path& spool, std::uint64_t bytes,
          std::uint64_t file_size, std::atomic<std::uint64_t>& dropped) {
  Usage usage = usage_of(spool.parent_path(), spool, file_size);
  if (limit.at_limit != AtLimit::kKeepNewest) return usage.bytes + bytes <= limit.bytes;
  for (const LogFile& file : usage.files) {
    if (usage.bytes + bytes <= limit.bytes) break;
    if (remove_file(file.path, dropped)) usage.bytes -= std::min(usage.bytes, file.bytes);
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

bool take_space(const SizeLimit& limit, const std::string& spool, std::uint64_t bytes,
                std::uint64_t file_size, std::atomic<std::uint64_t>& dropped) noexcept {
  try {
    return take(limit, spool, bytes, file_size, dropped);
  } catch (const std::exception&) {
    return true;  // no memory to look; the next file will
  }
}

}  // namespace timeloom::spool
