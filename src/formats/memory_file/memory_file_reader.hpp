// Reads the file memory.timeloom. See memory_file_parts.hpp.
//
// Used by one thread. Throws Error for a file that is damaged, or of another version.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <vector>

#include "formats/memory_file/memory_file_parts.hpp"
#include "os/file.hpp"
#include "packing/streams.hpp"

namespace timeloom::memory_file {

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path);

  // The groups of the processes, each once.
  std::vector<std::uint32_t> groups() const;
  // REQUIRES: `group` is one of groups().
  Process process(std::uint32_t group);
  // Hands over the births and deaths of a process, until `take` returns false. The path of a birth
  // is less than `paths`; the birth of a death came before. REQUIRES: as above.
  void each_block(std::uint32_t group, std::uint64_t paths,
                  const std::function<bool(const Block&)>& take);

 private:
  struct Section {
    SectionHead head;
    std::uint64_t at = 0;  // of its body
  };

  [[noreturn]] void refuse() const;
  void find_sections();
  void read_body(std::uint32_t group, SectionKind kind, std::uint64_t most);
  const Section& section(std::uint32_t group, SectionKind kind) const;

  std::filesystem::path path_;
  os::File file_;
  std::uint64_t size_ = 0;
  std::vector<Section> sections_;
  std::map<std::uint32_t, std::size_t> places_;  // of the sections, by group
  packing::Bytes body_;
  packing::StreamReader streams_;
  packing::Decompressor decompressor_;
};

}  // namespace timeloom::memory_file
