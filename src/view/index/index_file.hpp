// The file of an index, while it is written and when it is read. Owns the descriptor.
//
// Any thread may append and read at the same time: each position in the file is written once.
// Throws Error, with the path and the reason.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "view/index/index_bytes.hpp"

namespace timeloom::view {

class IndexFile {
 public:
  // Takes over an open file; `path` is for messages.
  IndexFile(int descriptor, std::filesystem::path path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  IndexFile(const IndexFile&) = delete;
  IndexFile& operator=(const IndexFile&) = delete;
  ~IndexFile();

  // Opens the file for reading; a link is not followed. Throws std::system_error.
  static int open_to_read(const std::filesystem::path& path);

  const std::filesystem::path& path() const noexcept { return path_; }
  int descriptor() const noexcept { return descriptor_; }

  // For tests of damage that no checksum catches: from now on read() skips the comparison.
  void ignore_checks() noexcept { checked_ = false; }

  // Appends bytes, with zeros up to a multiple of 8, and returns their position.
  std::uint64_t append(std::string_view bytes);
  void write_at(std::uint64_t offset, std::string_view bytes);
  // The position of the next append. REQUIRES: this object has written the file.
  std::uint64_t end() const noexcept { return end_; }
  // The number of bytes that can be read.
  std::uint64_t size() const;

  // Reads `bytes` bytes and the padding that follows. Throws if they do not match the check.
  void read(std::uint64_t offset, std::uint64_t bytes, std::uint32_t check, Words& words) const;
  // The same without a check.
  void read(std::uint64_t offset, std::uint64_t bytes, Words& words) const;

 private:
  int descriptor_;
  std::filesystem::path path_;
  std::atomic<std::uint64_t> end_ = 0;
  bool checked_ = true;
};

// Bytes as words, with zeros up to a whole number of them.
Words words_of(std::string_view bytes);
inline std::uint32_t check_of_bytes(std::string_view bytes) { return check_of(words_of(bytes)); }

// A record or a table of records as bytes.
template <typename Record>
std::string_view record_bytes(const Record* records, std::size_t count) noexcept {
  return {reinterpret_cast<const char*>(records), count * sizeof(Record)};
}

// The first records in `words` from `offset` bytes on. REQUIRES: they exist.
template <typename Record>
std::vector<Record> records_in(const Words& words, std::uint64_t offset, std::size_t count) {
  std::vector<Record> records(count);
  if (count > 0) std::memcpy(records.data(), bytes_of(words) + offset, count * sizeof(Record));
  return records;
}

}  // namespace timeloom::view
