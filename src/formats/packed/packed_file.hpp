// The file of a packed run: sections one after another, each with a head that can be checked by
// itself.
//
//   definitions | block | block | ... | end
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
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/ids.hpp"
#include "formats/packed/block.hpp"
#include "os/file.hpp"

namespace timeloom::packed {

inline constexpr std::uint32_t kMagic = 0x4b504c54;  // "TLPK"
inline constexpr std::uint16_t kVersion = 1;

enum class SectionKind : std::uint16_t { kDefinitions = 1, kBlock = 2, kEnd = 3 };

struct SectionHead {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  SectionKind kind{};
  std::uint64_t run = 0;       // a random number, the same in all sections of a run
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

class FileWriter {
 public:
  // Creates the file. `run`: see SectionHead.
  FileWriter(std::filesystem::path path, std::uint64_t run);

  // Appends a section; any thread. `head`: all but the checks and the size.
  void append(SectionHead head, ByteSpan body);
  // Reads the file back and compares it with the sections that were appended. REQUIRES: all has
  // been appended.
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
  std::vector<std::uint64_t> checks_;  // of all heads
};

class FileReader {
 public:
  // Opens a file and finds its sections. Throws Error if it is not a packed run, or if a newer
  // version wrote it.
  explicit FileReader(const std::filesystem::path& path);

  // The sections, in their order in the file.
  const std::vector<Section>& sections() const noexcept { return sections_; }
  std::uint64_t run() const noexcept { return sections_.front().head.run; }
  // The parts of the file that are not sections of this run.
  std::uint64_t damaged_parts() const noexcept { return damaged_parts_; }
  // Reads the body of a section; false: its check is wrong. Any thread.
  bool read(const Section& section, Bytes& body) const;

 private:
  bool read_head(std::uint64_t at, SectionHead& head) const;
  std::uint64_t next_head(std::uint64_t at) const;
  void find_sections();

  std::filesystem::path path_;
  os::File file_;
  std::uint64_t size_ = 0;
  std::vector<Section> sections_;
  std::uint64_t damaged_parts_ = 0;
};

}  // namespace timeloom::packed
