// Files of sections, each with a checksum: samples.timeloom and memory.timeloom of a run.
//
//   u64 magic | section | section | ... | end
//
// A section is a head of 32 bytes and a body, which holds streams as streams.hpp stores them. The
// end has no body. Numbers are little-endian.
//
// No object is used by two threads at the same time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "os/file.hpp"
#include "packing/streams.hpp"

namespace timeloom::packing {

// Of all such files: the end's kind. Others are the file's own.
inline constexpr std::uint32_t kEndSection = 3;

struct SectionHead {
  std::uint32_t kind = 0;
  std::uint32_t number = 0;  // of the kind's own meaning; in the end: of the sections before it
  std::uint64_t detail = 0;  // of the kind's own meaning
  std::uint64_t size = 0;    // of the body that follows, in bytes
  std::uint64_t check = 0;   // section_check()
};
static_assert(sizeof(SectionHead) == 32);

// The checksum of the other fields of the head and of the body, for files with this magic.
std::uint64_t section_check(std::uint64_t magic, const SectionHead& head, ByteSpan body) noexcept;

// The start of a file. Throws std::bad_alloc.
std::string magic_bytes(std::uint64_t magic);
// The bytes of a section; `head`: its size and its check are filled in here. Throws std::bad_alloc.
std::string section_bytes(std::uint64_t magic, SectionHead head, const Bytes& body);

// Reads such a file. All throw Error for a file that is damaged, or of another version.
class SectionFile {
 public:
  struct Section {
    SectionHead head;
    std::uint64_t at = 0;  // of its body
  };

  // Throws an Error that names what cannot be read; `why` names the file and the fault.
  using Raise = void (*)(const std::string& why);

  // Finds the sections.
  SectionFile(const std::filesystem::path& path, std::uint64_t magic, Raise raise);
  // The same in an open file; the path is only told.
  SectionFile(os::File file, std::filesystem::path path, std::uint64_t magic, Raise raise);

  // Without the end.
  const std::vector<Section>& sections() const noexcept { return sections_; }
  // The streams of a section, until the next call. `most`: their size, at most.
  const StreamReader& read(const Section& section, std::uint64_t most);
  // Throws the error of a damaged file.
  [[noreturn]] void refuse() const;

 private:
  void read_at(std::uint64_t at, void* to, std::size_t size) const;
  void find_sections(int error);

  std::filesystem::path path_;
  std::uint64_t magic_;
  Raise raise_;
  os::File file_;
  std::uint64_t size_ = 0;
  std::vector<Section> sections_;
  Bytes body_;
  StreamReader streams_;
  Decompressor decompressor_;
};

}  // namespace timeloom::packing
