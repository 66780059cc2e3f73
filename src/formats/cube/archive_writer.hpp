// Writes the outer layer of a CUBE file: a ustar archive with one additional rule.
//
// The last member, `timeloom.check`, has a line for each other member: its CRC-32 in hexadecimal
// digits, its size and its name. Readers that know only CUBE skip it.
//
// CUBE's readers expect a block after a member whose size is a multiple of 512; tar does not have
// such a block. No such member is written, so that all readers agree. Used by one thread. Throws
// Error, which names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace timeloom::cube {

class ArchiveWriter {
 public:
  explicit ArchiveWriter(const std::filesystem::path& file);

  // Starts a member of `size` bytes, which must not be a multiple of 512. REQUIRES: add() is called
  // with exactly this many bytes.
  void begin(const std::string& name, std::uint64_t size);
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add_member(const std::string& name, std::string_view text);
  // Starts a text member whose size is known at its end only: any number of add() between
  // begin_growing() and end_growing().
  void begin_growing(const std::string& name);
  void end_growing();
  // Ends the archive with the member of checksums.
  void close();

 private:
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  void note_check();
  void end_member();
  void header(const std::string& name, std::uint64_t size, char type);
  void put(const void* bytes, std::size_t size);
  [[noreturn]] void fail() const;

  std::filesystem::path file_;
  std::unique_ptr<std::FILE, Close> stream_;
  std::uint64_t size_ = 0;  // of the member that is open
  std::uint64_t left_ = 0;
  std::string name_;  // of the member that is open
  std::uint64_t check_ = 0;
  std::string checks_;   // a line for each member
  std::string growing_;  // its name
  long growing_at_ = 0;  // position of its header
  std::uint64_t time_;
};

}  // namespace timeloom::cube
