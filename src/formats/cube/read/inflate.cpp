#include "formats/cube/read/inflate.hpp"

#include <new>

#include "formats/cube/cube_anchor.hpp"

namespace timeloom::cube {

namespace {

constexpr int kGzip = 16 + MAX_WBITS;
constexpr std::size_t kInflatedPiece = std::size_t{1} << 18;
// The largest ratio of a text to its compressed form. The most regular call trees shrink to about a
// hundredth; a ratio of 1000, the most that zlib can reach, indicates a decompression bomb.
constexpr std::size_t kMostInflation = 300;
constexpr std::size_t kAlwaysAllowed = std::size_t{1} << 20;

Bytef* input(const void* bytes) { return static_cast<Bytef*>(const_cast<void*>(bytes)); }

}  // namespace

void inflate_row(std::span<const std::byte> stream, std::span<std::byte> row) {
  auto size = static_cast<uLongf>(row.size());
  const int result = uncompress(reinterpret_cast<Bytef*>(row.data()), &size, input(stream.data()),
                                static_cast<uLong>(stream.size()));
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result != Z_OK || size != row.size()) throw Damage{"a compressed row of values is damaged"};
}

GzipText::GzipText(std::string compressed)
    : compressed_(std::move(compressed)),
      piece_(kInflatedPiece, '\0'),
      left_(compressed_.size() * kMostInflation + kAlwaysAllowed) {
  if (inflateInit2(&stream_, kGzip) != Z_OK) throw std::bad_alloc();
  stream_.next_in = input(compressed_.data());
  stream_.avail_in = static_cast<uInt>(compressed_.size());
}

GzipText::~GzipText() { inflateEnd(&stream_); }

std::string_view GzipText::next() {
  if (done_) return {};
  stream_.next_out = reinterpret_cast<Bytef*>(piece_.data());
  stream_.avail_out = static_cast<uInt>(piece_.size());
  const int result = inflate(&stream_, Z_NO_FLUSH);
  const std::size_t size = piece_.size() - stream_.avail_out;
  done_ = result == Z_STREAM_END;
  if (!done_ && (result != Z_OK || size == 0)) throw Damage{"its anchor.xml is damaged"};
  if (size > left_) throw Damage{"its anchor.xml is far longer than its compressed form"};
  left_ -= size;
  return std::string_view(piece_).substr(0, size);
}

}  // namespace timeloom::cube
