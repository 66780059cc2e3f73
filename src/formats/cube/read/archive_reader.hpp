// Reads the outer layer of a CUBE file: the positions of the members of the archive. Nothing is
// ever unpacked to disk.
//
// Used by one thread. Throws Damage (cube_anchor.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace timeloom::cube {

struct Member {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

class ArchiveReader {
 public:
  // Lists the members. Accepts the output of other tools: padding as in tar or as in
  // CUBE, PAX headers, wrong checksums (as CubeW 4.8 writes them).
  explicit ArchiveReader(std::unique_ptr<std::istream> stream);

  // nullptr: there is no member with that name.
  const Member* find(const std::string& name) const;
  // Reads the bytes from offset `at` of the member.
  void read(const Member& member, std::uint64_t at, std::span<std::byte> bytes) const;
  std::string read_all(const Member& member) const;
  // Throws Damage if the archive has checksums and a member does not match.
  void check_members() const;

 private:
  struct Header;
  bool read_header(std::uint64_t at, Header& header) const;
  void read_members();
  void add(const std::string& name, const Member& member);
  std::uint64_t after(const Member& member) const;

  std::unique_ptr<std::istream> stream_;
  std::uint64_t size_ = 0;
  std::map<std::string, Member> members_;
};

}  // namespace timeloom::cube
