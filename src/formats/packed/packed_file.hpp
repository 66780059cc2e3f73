// The file of a packed run: sections one after another, each with a head that can be checked by
// itself.
//
//   definitions | block | block | ... | end
//
// A section of a part may lie between: the blocks after it that have its number are of that part.
//
// Sections begin at multiples of 8 bytes; zeros fill up. Numbers are little-endian. A head whose
// check is wrong is not a head, and a reader looks for the next one; so a damaged part costs no
// more than the sections that it touches. docs/formats/packed.md describes the bytes.
//
// A file is used as RunSink and RunSource require. Throws Error with one line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "formats/packed/block.hpp"
#include "os/file.hpp"

namespace timeloom::packed {

inline constexpr std::uint32_t kMagic = 0x4b504c54;  // "TLPK"
// A file has the lowest version that can hold its contents, for older readers.
inline constexpr std::uint16_t kVersion = 5;  // definitions of another tool, and what 4 has
// Contexts of accelerators, or regions of a paradigm or a role that version 1 does not have.
inline constexpr std::uint16_t kVersionOfLaterKinds = 4;
inline constexpr std::uint16_t kVersionOfOriginal = 3;
inline constexpr std::uint16_t kVersionOfParts = 2;  // also of files of hosts

enum class SectionKind : std::uint16_t {
  kDefinitions = 1,
  kBlock = 2,
  kEnd = 3,
  kPart = 4,        // before the blocks of a part, whose number is its location: see part.hpp
  kPackedRank = 5,  // only in files of hosts: see host_file.hpp
  kOriginal = 6     // definitions of another tool: see OriginalFiles in core/definitions.hpp
};

struct SectionHead {
  std::uint32_t magic = kMagic;
  std::uint16_t version = 1;
  SectionKind kind{};
  std::uint64_t run = 0;       // a random number, the same in all sections of a run; or of a part
  std::uint64_t location = 0;  // of a block
  std::uint32_t number = 0;    // of a block among the blocks of its location, from 0 on
  std::uint32_t events = 0;    // of a block
  std::uint64_t first = 0;     // time of a block's first event; of other sections: size unpacked
  std::uint64_t size = 0;      // of the body, in bytes
  std::uint64_t body_check = 0;
  std::uint64_t head_check = 0;  // of the 56 bytes before
};
static_assert(sizeof(SectionHead) == 64);

// A section of a file, with its place.
struct Section {
  SectionHead head;
  std::uint64_t at = 0;  // of the body
};

// Writes the checks and the size into the head of a section with this body; returns all bytes of
// the section.
Bytes section_bytes(SectionHead head, ByteSpan body);
// Reads a head; false: there is none. Any thread.
bool read_head(const os::File& file, std::uint64_t at, SectionHead& head);
// The place of the next head from there on; `end` if there is none before it.
std::uint64_t next_head(const os::File& file, std::uint64_t at, std::uint64_t end);
// Reads the body of a section; false: its check is wrong. Any thread.
bool read_body(const os::File& file, const Section& section, Bytes& body);
constexpr std::uint64_t aligned(std::uint64_t size) { return (size + 7) / 8 * 8; }

class FileWriter {
 public:
  // Creates the file. `run`: see SectionHead.
  FileWriter(std::filesystem::path path, std::uint64_t run);

  // REQUIRES: before the first section.
  void has_version(std::uint16_t version) noexcept { version_ = version; }
  // Appends a section; any thread. `head`: all but the checks and the size.
  void append(SectionHead head, ByteSpan body);
  // Appends `sections` sections of the part `number` as they are in another file.
  void copy(const os::File& from, std::uint64_t at, std::uint64_t size, std::uint64_t number,
            std::uint64_t sections);
  // Reads the file back and compares it with the sections that were appended; of copied sections,
  // whether they are all there. REQUIRES: all has been appended.
  void check() const;
  const std::filesystem::path& path() const noexcept { return path_; }
  std::uint64_t run() const noexcept { return run_; }

 private:
  [[noreturn]] void fail(int error) const;

  const std::filesystem::path path_;
  const std::uint64_t run_;
  os::File file_;
  std::mutex mutex_;
  std::uint64_t size_ = 0;
  std::uint16_t version_ = 1;
  std::vector<std::uint64_t> checks_;              // of all heads, but of copied sections
  std::map<std::uint64_t, std::uint64_t> copied_;  // number of a part, its sections
};

class FileReader {
 public:
  // Opens a file and finds its sections. Throws Error if it is not a packed run, or if a newer
  // version wrote it.
  explicit FileReader(const std::filesystem::path& path);
  // Finds the blocks of a part in these bytes of a file. `name`: of the file, for messages.
  FileReader(os::File file, std::string name, std::uint64_t at, std::uint64_t size,
             std::uint64_t number);

  // The sections, in their order in the file.
  const std::vector<Section>& sections() const noexcept { return sections_; }
  std::uint64_t run() const noexcept { return sections_.front().head.run; }
  // The parts of the file that are not sections of this run.
  std::uint64_t damaged_parts() const noexcept { return damaged_parts_; }
  // Reads the body of a section; false: its check is wrong. Any thread.
  bool read(const Section& section, Bytes& body) const;

 private:
  void check_first();
  void find_sections(std::uint64_t at, std::uint64_t run);

  std::filesystem::path path_;
  os::File file_;
  std::uint64_t size_ = 0;  // the end of the sections
  std::vector<Section> sections_;
  std::uint64_t damaged_parts_ = 0;
};

}  // namespace timeloom::packed
