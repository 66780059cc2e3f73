// Reads the file memory.timeloom. See memory_file_parts.hpp.
//
// Used by one thread. Throws Error for a file that is damaged, or of another version.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <vector>

#include "formats/memory_file/memory_file_parts.hpp"
#include "packing/section_file.hpp"

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
  using Section = packing::SectionFile::Section;

  void check_sections();
  const Section& section(std::uint32_t group, SectionKind kind) const;
  const packing::StreamReader& read(const Section& section);

  packing::SectionFile file_;
  std::map<std::uint32_t, std::size_t> places_;  // of the sections, by group
};

}  // namespace timeloom::memory_file
