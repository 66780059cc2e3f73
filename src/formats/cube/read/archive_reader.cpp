#include "formats/cube/read/archive_reader.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include "formats/cube/cube_anchor.hpp"
#include "formats/cube/read/member_check.hpp"

namespace timeloom::cube {

namespace {

constexpr std::uint64_t kReadBlock = 512;
constexpr std::uint64_t kLongestRecord = 1 << 16;  // of a PAX header
constexpr std::uint64_t kLongestChecks = 1 << 20;

using Block = std::array<char, kReadBlock>;

std::string_view field(const Block& block, std::size_t at, std::size_t size) {
  const std::string_view all(block.data() + at, size);
  return all.substr(0, all.find('\0'));
}

bool octal(std::string_view text, std::uint64_t& value) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty()) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_zero(const Block& block) {
  return std::ranges::all_of(block, [](char byte) { return byte == 0; });
}

// True for a name that would lie outside the directory if the archive were unpacked.
bool leaves(std::string_view name) {
  if (name.starts_with('/')) return true;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    if (name.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

// The value of a key in the records "LENGTH KEY=VALUE\n" of a PAX header.
std::string_view pax_value(std::string_view records, std::string_view key) {
  std::string_view value;
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, error] =
        std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(end - records.data());
    if (error != std::errc() || length <= digits + 1 || length > records.size()) {
      throw Damage{"a PAX header is damaged"};
    }
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    if (record.starts_with(key) && record.substr(key.size()).starts_with('=')) {
      value = record.substr(key.size() + 1);
    }
    records.remove_prefix(length);
  }
  return value;
}

}  // namespace

struct ArchiveReader::Header {
  std::string name;
  std::uint64_t size = 0;
  char type = '0';
  bool end = false;  // a block of zeros
};

ArchiveReader::ArchiveReader(std::unique_ptr<std::istream> stream) : stream_(std::move(stream)) {
  stream_->seekg(0, std::ios::end);
  const std::streamoff size = stream_->tellg();
  if (!*stream_ || size < 0) throw Damage{"it cannot be read"};
  size_ = static_cast<std::uint64_t>(size);
  read_members();
}

void ArchiveReader::read(const Member& member, std::uint64_t at, std::span<std::byte> bytes) const {
  if (at > member.size || bytes.size() > member.size - at) throw Damage{"a part of it is cut off"};
  stream_->clear();
  stream_->seekg(static_cast<std::streamoff>(member.offset + at));
  stream_->read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!*stream_) throw Damage{"it cannot be read to its end"};
}

std::string ArchiveReader::read_all(const Member& member) const {
  std::string text(member.size, '\0');
  read(member, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

// Returns false if there is no header at this position.
bool ArchiveReader::read_header(std::uint64_t at, Header& header) const {
  if (size_ < kReadBlock || at > size_ - kReadBlock) return false;
  Block block{};
  read({at, kReadBlock}, 0, std::as_writable_bytes(std::span(block)));
  header = {};
  header.end = is_zero(block);
  if (header.end) return true;
  if (field(block, 257, 5) != "ustar") return false;
  if (!octal(field(block, 124, 12), header.size)) return false;
  header.name = field(block, 0, 100);
  // GNU tar uses this field for other data, and marks that with a blank.
  const std::string_view prefix = block[262] == '\0' ? field(block, 345, 155) : "";
  if (!prefix.empty()) header.name = std::string(prefix) + "/" + header.name;
  header.type = block[156];
  return true;
}

// The position of the next member. CUBE, unlike tar, has a block of zeros after a size that is a
// multiple of 512.
std::uint64_t ArchiveReader::after(const Member& member) const {
  const std::uint64_t end =
      member.offset + (member.size + kReadBlock - 1) / kReadBlock * kReadBlock;
  if (member.size == 0 || member.size % kReadBlock != 0) return end;
  Header here;
  Header next;
  const bool padded =
      read_header(end, here) && here.end && read_header(end + kReadBlock, next) && !next.end;
  return padded ? end + kReadBlock : end;
}

void ArchiveReader::add(const std::string& name, const Member& member) {
  if (leaves(name)) throw Damage{"its member '" + name + "' has a path that leaves the archive"};
  if (!members_.emplace(name.starts_with("./") ? name.substr(2) : name, member).second) {
    throw Damage{"its member '" + name + "' comes twice"};
  }
}

void ArchiveReader::read_members() {
  std::string extended;  // the PAX header of the next member
  for (std::uint64_t at = 0;;) {
    Header header;
    if (!read_header(at, header)) {
      if (at == 0) throw Damage{"it is not a tar archive, which every CUBE4 file is"};
      throw Damage{at + kReadBlock > size_ ? "it is cut off"
                                           : "another member does not follow one"};
    }
    if (header.end) return;
    const std::string_view long_size = pax_value(extended, "size");
    if (!long_size.empty()) {
      const char* end = long_size.data() + long_size.size();
      const auto [last, error] = std::from_chars(long_size.data(), end, header.size);
      if (error != std::errc() || last != end) throw Damage{"a PAX header is damaged"};
    }
    const std::string_view long_name = pax_value(extended, "path");
    const std::string name = long_name.empty() ? header.name : std::string(long_name);
    extended.clear();
    const Member member{at + kReadBlock, header.size};
    if (member.size > size_ - member.offset) {
      throw Damage{"it is cut off: its member '" + name + "' is longer than what is left"};
    }
    if (header.type == 'x') {
      if (member.size > kLongestRecord) throw Damage{"a PAX header is damaged"};
      extended = read_all(member);
    } else if (header.type == '0' || header.type == '\0' || header.type == '7') {
      add(name, member);
    } else if (header.type != 'g' && header.type != '5') {
      throw Damage{"its member '" + name + "' is not a plain file"};
    }
    at = after(member);
  }
}

void ArchiveReader::check_members() const {
  const Member* const checks = find(kCheckName);
  if (checks == nullptr || checks->size > kLongestChecks) return;
  const std::string lines = "\n" + read_all(*checks);
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (const auto& [name, member] : members_) {
    if (name == kCheckName) continue;
    std::uint64_t check = 0;
    for (std::uint64_t at = 0; at < member.size; at += piece.size()) {
      const auto part =
          std::span(piece).first(std::min<std::uint64_t>(piece.size(), member.size - at));
      read(member, at, part);
      check = crc32_z(check, reinterpret_cast<const Bytef*>(part.data()), part.size());
    }
    if (lines.find("\n" + check_line(check, member.size, name)) == std::string::npos) {
      throw Damage{"its member '" + name + "' was changed since it was written"};
    }
  }
}

const Member* ArchiveReader::find(const std::string& name) const {
  const auto found = members_.find(name);
  return found == members_.end() ? nullptr : &found->second;
}

}  // namespace timeloom::cube
