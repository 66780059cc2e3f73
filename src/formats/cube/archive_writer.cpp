#include "formats/cube/archive_writer.hpp"

#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "formats/cube/read/member_check.hpp"

namespace timeloom::cube {

namespace {

constexpr std::size_t kBlock = 512;
constexpr std::uint64_t kLargestSize = 0x1FFFFFFFE;  // the largest that readers take from the
                                                     // header itself
constexpr std::uint64_t kNobody = 0377777;           // CUBE's number for unknown users

using Header = std::array<char, kBlock>;

void put_text(Header& header, std::size_t at, std::string_view text) {
  std::memcpy(header.data() + at, text.data(), text.size());
}

// Octal with leading zeros; the byte after it stays zero.
void put_octal(Header& header, std::size_t at, std::size_t digits, std::uint64_t value) {
  for (std::size_t i = digits; i-- > 0; value >>= 3) {
    header[at + i] = static_cast<char>('0' + (value & 7));
  }
}

void put_checksum(Header& header) {
  std::memset(header.data() + 148, ' ', 8);
  std::uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  put_octal(header, 148, 6, sum);
  header[154] = '\0';
}

// A record of a PAX header contains its own length.
std::string pax_size(std::uint64_t size) {
  const std::string rest = " size=" + std::to_string(size) + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

}  // namespace

ArchiveWriter::ArchiveWriter(const std::filesystem::path& file)
    : file_(file),
      stream_(std::fopen(file.c_str(), "wb")),
      time_(static_cast<std::uint64_t>(std::time(nullptr))) {
  if (!stream_) fail();
}

void ArchiveWriter::header(const std::string& name, std::uint64_t size, char type) {
  Header header{};
  put_text(header, 0, name);
  put_text(header, 100, "0000600");
  put_octal(header, 108, 7, kNobody);
  put_octal(header, 116, 7, kNobody);
  put_octal(header, 124, 11, size);
  put_octal(header, 136, 11, time_);
  header[156] = type;
  put_text(header, 257, "ustar");
  put_text(header, 263, "00");
  put_text(header, 265, "nouser");
  put_text(header, 297, "users");
  put_checksum(header);
  put(header.data(), header.size());
}

void ArchiveWriter::begin(const std::string& name, std::uint64_t size) {
  if (size % kBlock == 0) throw std::logic_error("a member of a CUBE file with a forbidden size");
  end_member();
  if (size > kLargestSize) {
    const std::string record = pax_size(size);
    header("pax", record.size(), 'x');
    size_ = record.size();
    left_ = record.size();
    add(record);
    end_member();
  }
  header(name, size > kLargestSize ? 0 : size, '0');
  size_ = left_ = size;
  name_ = name;
  check_ = 0;
}

void ArchiveWriter::begin_growing(const std::string& name) {
  end_member();
  growing_ = name;
  growing_at_ = std::ftell(stream_.get());
  header(name, 0, '0');
  left_ = kLargestSize;
  name_ = name;
  check_ = 0;
}

void ArchiveWriter::end_growing() {
  if ((kLargestSize - left_) % kBlock == 0) add(std::string_view("\n"));
  size_ = kLargestSize - left_;
  left_ = 0;
  if (growing_at_ < 0 || std::fseek(stream_.get(), growing_at_, SEEK_SET) != 0) fail();
  header(growing_, size_, '0');
  if (std::fseek(stream_.get(), 0, SEEK_END) != 0) fail();
}

void ArchiveWriter::add(std::span<const std::byte> bytes) {
  if (bytes.size() > left_) throw std::logic_error("more in a member of a CUBE file than it holds");
  left_ -= bytes.size();
  check_ = crc32_z(check_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  put(bytes.data(), bytes.size());
}

void ArchiveWriter::add_member(const std::string& name, std::string_view text) {
  const bool forbidden = text.size() % kBlock == 0;
  begin(name, text.size() + (forbidden ? 1 : 0));
  add(text);
  if (forbidden) add(std::string_view("\n"));
}

void ArchiveWriter::note_check() {
  if (!name_.empty()) checks_ += check_line(check_, size_, name_);
  name_.clear();
}

void ArchiveWriter::end_member() {
  if (left_ != 0) throw std::logic_error("less in a member of a CUBE file than it holds");
  note_check();
  const Header zeros{};
  if (size_ != 0) put(zeros.data(), kBlock - size_ % kBlock);
  size_ = 0;
}

void ArchiveWriter::close() {
  end_member();
  add_member(kCheckName, std::exchange(checks_, {}));
  end_member();
  const Header zeros{};
  put(zeros.data(), zeros.size());
  put(zeros.data(), zeros.size());
  if (std::fclose(stream_.release()) != 0) fail();
}

void ArchiveWriter::put(const void* bytes, std::size_t size) {
  if (std::fwrite(bytes, 1, size, stream_.get()) != size) fail();
}

void ArchiveWriter::fail() const {
  throw Error("cannot write " + file_.string() + ": " + std::strerror(errno) + " [TL302]");
}

}  // namespace timeloom::cube
