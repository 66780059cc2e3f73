// Packed segments of a spool: an input that is taken for packed records is refused, or has words
// that packing gives back; an input that is taken for records comes back word for word.
//
// The first byte: 'u' unpack, behind it a u16 number of words and the body; 'p' pack, the words.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "spool/packed_segment.hpp"

namespace timeloom::spool {
namespace {

using Words = std::vector<EventWord>;

void expect_back(const Words& words) {
  static SegmentPacker packer;
  static SegmentUnpacker unpacker;
  packing::Bytes bytes;
  if (!packer.pack(words, bytes)) return;
  Words again;
  if (!unpacker.unpack(bytes, words.size(), again) || again != words) std::abort();
}

void unpack(packing::ByteSpan input) {
  if (input.size() < 2) return;
  const std::size_t size = input[0] + std::size_t{256} * input[1];
  SegmentUnpacker unpacker;
  Words words;
  const bool whole = unpacker.unpack(input.subspan(2), size, words);
  if (words.size() != (whole ? size : 0)) std::abort();
  if (whole) expect_back(words);
}

void pack(packing::ByteSpan input) {
  Words words(input.size() / sizeof(EventWord));
  if (!words.empty()) std::memcpy(words.data(), input.data(), words.size() * sizeof(EventWord));
  expect_back(words);
}

}  // namespace
}  // namespace timeloom::spool

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  if (size == 0) return 0;
  const packing::ByteSpan rest(data + 1, size - 1);
  if (data[0] == 'u') spool::unpack(rest);
  if (data[0] == 'p') spool::pack(rest);
  return 0;
}
