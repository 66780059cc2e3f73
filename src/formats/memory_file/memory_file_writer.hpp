// Makes the file memory.timeloom. See memory_file_parts.hpp.
//
// Used by one thread. Throws std::bad_alloc, and Error if zstd fails for lack of memory.
#pragma once

#include <string>
#include <vector>

#include "formats/memory_file/memory_file_parts.hpp"
#include "packing/section_file.hpp"

namespace timeloom::memory_file {

class Writer {
 public:
  // REQUIRES: each path comes after its parent, and each death after its birth.
  void add(const Process& process, const std::vector<Block>& blocks);
  // No process was added.
  bool empty() const noexcept { return count_ == 0; }
  // The bytes of the file. REQUIRES: called once.
  std::string take();

 private:
  void append(const packing::SectionHead& head, const packing::Bytes& body);

  std::string bytes_;
  std::uint32_t count_ = 0;  // of sections
  packing::Compressor compressor_;
};

}  // namespace timeloom::memory_file
