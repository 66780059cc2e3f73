// Streams of bytes, each compressed by zstd unless that makes it no smaller: the body of a section
// of a packed trace, and of a packed segment of a spool.
//
//   u8 number of streams; of each: u8 id, varint size, varint size as stored
//   the stored bytes of each; a stream that is not compressed has both sizes equal
//
// No object is used by two threads at the same time. Throws std::bad_alloc, and Error if zstd fails
// for lack of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "packing/varint.hpp"

// Of zstd.h, which only streams.cpp includes.
struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace timeloom::packing {

// The memory of zstd; StreamWriter and StreamReader allocate it at the first use.
struct FreeZstd {
  void operator()(ZSTD_CCtx_s* memory) const noexcept;
  void operator()(ZSTD_DCtx_s* memory) const noexcept;
};
using Compressor = std::unique_ptr<ZSTD_CCtx_s, FreeZstd>;
using Decompressor = std::unique_ptr<ZSTD_DCtx_s, FreeZstd>;

class StreamWriter {
 public:
  // Streams have ascending ids; an empty one is left out.
  void add(Compressor& compressor, std::uint8_t id, ByteSpan bytes);
  // Appends the body to `to`, and begins the next one.
  void finish(Bytes& to);
  Bytes take();

 private:
  std::uint8_t count_ = 0;
  Bytes head_;
  Bytes stored_;
};

// Reads the streams of a body; used for one body after another, it keeps its memory.
class StreamReader {
 public:
  // Unpacks a body of bytes from a file. `most`: the size of all streams together, at most. False:
  // it is damaged; then stream() and ids() mean nothing. Forged sizes do not make it take more
  // memory than the bytes can be unpacked to.
  bool read(Decompressor& decompressor, ByteSpan body, std::uint64_t most);
  // The bytes of the stream; empty: the body does not have it.
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

}  // namespace timeloom::packing
