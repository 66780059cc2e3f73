// Bytes in gzip's format, piece by piece.
//
// Used by one thread. Throws Error when there is no memory.
#pragma once

#include <zlib.h>

#include <array>
#include <string_view>

#include "core/error.hpp"

namespace timeloom::exchange {

class Gzip {
 public:
  Gzip() {
    constexpr int kGzip = 16 + MAX_WBITS;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw Error("no memory to compress with [TL403]");
    }
  }
  ~Gzip() { deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  // Compresses bytes and passes the output to put() as it becomes ready. `flush`: Z_NO_FLUSH, or
  // Z_FINISH at the end.
  template <typename Put>
  void add(std::string_view bytes, int flush, const Put& put) {
    // zlib only reads from there.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(room_.data());
      stream_.avail_out = static_cast<uInt>(room_.size());
      deflate(&stream_, flush);
      put(std::string_view(room_.data(), room_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_{};
  std::array<char, 1 << 16> room_;
};

}  // namespace timeloom::exchange
