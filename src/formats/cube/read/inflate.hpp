// Decompression of zlib streams. Used by one thread; throws Damage (cube_anchor.hpp).
#pragma once

#include <zlib.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace timeloom::cube {

// Decompresses a stream into `row`. Throws Damage unless the row is exactly filled.
void inflate_row(std::span<const std::byte> stream, std::span<std::byte> row);

// The text of a gzip member, piece by piece.
class GzipText {
 public:
  explicit GzipText(std::string compressed);
  ~GzipText();
  GzipText(const GzipText&) = delete;
  GzipText& operator=(const GzipText&) = delete;

  // Valid until the next call; empty at the end.
  std::string_view next();

 private:
  std::string compressed_;
  std::string piece_;
  z_stream stream_{};
  bool done_ = false;
  std::size_t left_;  // bytes of text after which the member is refused as a decompression bomb
};

}  // namespace timeloom::cube
