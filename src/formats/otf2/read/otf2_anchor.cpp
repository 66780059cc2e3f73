#include "formats/otf2/read/otf2_anchor.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "core/error.hpp"
#include "formats/otf2/otf2.hpp"
#include "formats/otf2/read/record_layout.hpp"

namespace timeloom::otf2 {

namespace {

constexpr std::uint64_t kSmallestChunk = 256u << 10;
constexpr std::uint64_t kLargestChunk = 16u << 20;
constexpr std::size_t kLargestAnchor = 64u << 20;

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_fifo(path, error)) {  // would wait for a writer
    throw Error(path.string() + " is not an OTF2 anchor file [TL319]");
  }
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes;
  if (file) {
    std::error_code unknown;
    const std::uintmax_t size = std::filesystem::file_size(path, unknown);
    if (!unknown && size <= kLargestAnchor) {
      bytes.assign(std::istreambuf_iterator<char>(file), {});
      return bytes;
    }
    throw Error(path.string() + " is not an OTF2 anchor file [TL319]");
  }
  throw Error("cannot read " + path.string() + ": " + std::strerror(errno) + " [TL301]");
}

// The fields of an anchor, one after the other; throws Error at the first missing one.
class Fields {
 public:
  Fields(const std::filesystem::path& path, const std::vector<std::uint8_t>& file)
      : path_(path), bytes_{file.data(), file.data() + file.size(), false} {
    if (file.size() < 7 || file[0] != 3 || (file[1] != 0x42 && file[1] != 0x23) ||
        std::memcmp(file.data() + 2, "OTF2", 5) != 0) {
      throw Error(path.string() +
                  " is not an OTF2 anchor file; give the .otf2 file of a trace [TL319]");
    }
    bytes_.big_endian = file[1] == 0x23;
    bytes_.at += 7;
  }

  std::uint64_t number(unsigned size) {
    if (bytes_.left() < size) damaged("is cut off");
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      value |= std::uint64_t{bytes_.at[i]} << 8 * (bytes_.big_endian ? size - 1 - i : i);
    }
    bytes_.at += size;
    return value;
  }

  void text() {
    if (!walk("s", bytes_)) damaged("is cut off");
  }

  std::uint64_t left() const { return bytes_.left(); }

  [[noreturn]] void damaged(const std::string& how) const {
    throw Error(path_.string() + " " + how +
                ", and the trace cannot be read without it; copy the trace again [TL318]");
  }

 private:
  const std::filesystem::path& path_;
  Bytes bytes_;
};

void check_chunk(const Fields& fields, std::uint64_t size) {
  if (size < kSmallestChunk || size > kLargestChunk) {
    fields.damaged("is damaged (chunks of " + std::to_string(size) + " bytes)");
  }
}

void check_kind_of_files(const std::filesystem::path& path, Fields& fields) {
  const std::uint64_t substrate = fields.number(1);
  const std::uint64_t compression = fields.number(1);
  if (substrate == 2) {
    throw Error(path.string() +
                " keeps its events in SIONlib containers, which are not supported; "
                "write the trace with the POSIX substrate [TL320]");
  }
  if (substrate != 1 || compression != 1) {
    throw Error(path.string() + " is of a kind that is not supported (substrate " +
                std::to_string(substrate) + ", compression " + std::to_string(compression) +
                ") [TL320]");
  }
}

}  // namespace

Anchor read_anchor(const std::filesystem::path& path) {
  Anchor anchor;
  anchor.path = std::filesystem::absolute(path);
  const std::vector<std::uint8_t> file = read_file(anchor.path);
  anchor.directory = std::make_shared<const InputDirectory>(anchor.path.parent_path());
  if (path.extension() != ".otf2") {
    throw Error(path.string() +
                " is not an OTF2 anchor file; give the .otf2 file of a trace [TL319]");
  }
  Fields fields(anchor.path, file);
  const std::uint64_t format = fields.number(1);
  if (format == 0) fields.damaged("is damaged (format 0)");
  fields.number(4);  // versions of the trace format and of the library
  anchor.event_chunk = fields.number(8);
  anchor.definition_chunk = fields.number(8);
  check_chunk(fields, anchor.event_chunk);
  check_chunk(fields, anchor.definition_chunk);
  check_kind_of_files(anchor.path, fields);
  fields.number(8);                           // locations
  fields.number(8);                           // global definitions
  for (int i = 0; i < 3; ++i) fields.text();  // machine, creator, description
  if (format >= 2) {
    const std::uint64_t properties = fields.number(4);
    if (properties > fields.left() / 2) fields.damaged("is damaged (too many properties)");
    for (std::uint64_t i = 0; i < 2 * properties; ++i) fields.text();
    anchor.trace_id = fields.number(8);
  }
  if (format >= 3) fields.number(8);  // snapshots, thumbnails
  if (format == 3 && fields.number(1) != 2) fields.damaged("is damaged (no end)");
  return anchor;
}

std::uint64_t trace_id(const std::filesystem::path& anchor) { return read_anchor(anchor).trace_id; }

std::string ArchiveFile::bytes() const {
  const InputDirectory::File file = open();
  std::string bytes;
  std::array<char, 1 << 16> part;
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), file.get())) {
    bytes.append(part.data(), read);
  }
  if (std::ferror(file.get()) != 0) {
    throw Error("cannot read " + path() + ": " + std::strerror(errno) + " [TL301]");
  }
  return bytes;
}

ArchiveFile Anchor::self() const { return {*directory, path.filename().string()}; }

ArchiveFile Anchor::global_definitions() const {
  return {*directory, path.stem().string() + ".def"};
}

ArchiveFile Anchor::markers() const { return {*directory, path.stem().string() + ".marker"}; }

ArchiveFile Anchor::events(LocationId location) const {
  return {*directory, path.stem().string() + "/" + std::to_string(location.value()) + ".evt"};
}

ArchiveFile Anchor::local_definitions(LocationId location) const {
  return {*directory, path.stem().string() + "/" + std::to_string(location.value()) + ".def"};
}

}  // namespace timeloom::otf2
