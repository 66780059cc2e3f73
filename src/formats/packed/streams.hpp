// The body of a section: streams of bytes, each compressed by zstd unless that makes it no smaller.
//
//   u8 number of streams; of each: u8 id, varint size, varint size as stored
//   the stored bytes of each; one that is stored as it is has both sizes equal
//
// Each thread has a compressor of its own. Throws std::bad_alloc only, and Error where zstd fails
// for want of memory.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "formats/packed/varint.hpp"

namespace timeloom::packed {

class StreamWriter {
 public:
  // Streams have ascending ids; an empty one is left out.
  void add(std::uint8_t id, ByteSpan bytes);
  Bytes take();

 private:
  std::uint8_t count_ = 0;
  Bytes head_;
  Bytes stored_;
};

// The streams of one section after another; memory is kept between them.
class StreamReader {
 public:
  // Unpacks a body of bytes from a file. `most`: the size of all streams together. False: it is
  // damaged. No more memory is taken than the bytes can turn into.
  bool read(ByteSpan body, std::uint64_t most);
  // Empty: there is none.
  ByteSpan stream(std::uint8_t id) const;
  // The ids that the body has.
  const std::vector<std::uint8_t>& ids() const noexcept { return ids_; }

 private:
  struct Part {
    std::size_t at = 0;
    std::size_t size = 0;
  };
  std::vector<std::uint8_t> ids_;
  std::vector<Part> parts_;
  Bytes bytes_;
};

}  // namespace timeloom::packed
