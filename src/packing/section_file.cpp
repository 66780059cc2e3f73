#include "packing/section_file.hpp"

#include <bit>
#include <cstdlib>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/checksum.hpp"

namespace timeloom::packing {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

std::string_view bytes_of(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

}  // namespace

std::uint64_t section_check(std::uint64_t magic, const SectionHead& head, ByteSpan body) noexcept {
  const auto bytes = std::as_bytes(body);
  std::uint64_t check = mix(magic, head.kind);
  for (const std::uint64_t part : {std::uint64_t{head.number}, head.detail, head.size}) {
    check = mix(check, part);
  }
  return mix(check, checksum(bytes.data(), bytes.size()));
}

std::string magic_bytes(std::uint64_t magic) { return std::string(bytes_of(&magic, sizeof magic)); }

std::string section_bytes(std::uint64_t magic, SectionHead head, const Bytes& body) {
  head.size = body.size();
  head.check = section_check(magic, head, body);
  std::string bytes(bytes_of(&head, sizeof head));
  bytes += bytes_of(body.data(), body.size());
  return bytes;
}

SectionFile::SectionFile(const std::filesystem::path& path, std::uint64_t magic, Raise raise)
    : path_(path), magic_(magic), raise_(raise) {
  int error = 0;
  file_ = os::File::open_read(path.string(), &error);
  find_sections(error);
}

SectionFile::SectionFile(os::File file, std::filesystem::path path, std::uint64_t magic,
                         Raise raise)
    : path_(std::move(path)), magic_(magic), raise_(raise), file_(std::move(file)) {
  find_sections(0);
}

void SectionFile::refuse() const {
  raise_(path_.filename().string() +
         " is damaged or of another version; weave the run again, or remove the file: " +
         path_.string());
  std::abort();
}

void SectionFile::read_at(std::uint64_t at, void* to, std::size_t size) const {
  int error = 0;
  const std::span bytes(static_cast<std::byte*>(to), size);
  if (file_.read_at(at, bytes, &error) != size || error != 0) refuse();
}

void SectionFile::find_sections(int error) {
  if (error == 0) size_ = file_.size(&error);
  if (error != 0) raise_(path_.string() + ": " + std::generic_category().message(error));
  std::uint64_t magic = 0, at = sizeof magic;
  read_at(0, &magic, sizeof magic);
  if (magic != magic_) refuse();
  while (true) {
    SectionHead head;
    read_at(at, &head, sizeof head);
    at += sizeof head;
    if (head.size > size_ - at) refuse();
    if (head.kind == kEndSection) {
      const bool sound = head.number == sections_.size() && head.size == 0 && at == size_ &&
                         head.check == section_check(magic_, head, {});
      if (!sound) refuse();
      return;
    }
    sections_.push_back({head, at});
    at += head.size;
  }
}

const StreamReader& SectionFile::read(const Section& section, std::uint64_t most) {
  constexpr std::uint64_t kMostHeads = 256;             // bytes, of the streams
  if (section.head.size > most + kMostHeads) refuse();  // a hole in the file may be longer
  body_.resize(section.head.size);
  read_at(section.at, body_.data(), body_.size());
  if (section_check(magic_, section.head, body_) != section.head.check) refuse();
  if (!streams_.read(decompressor_, body_, most)) refuse();
  return streams_;
}

}  // namespace timeloom::packing
