// Writes the values of metrics and puts the parts of the file together.
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "formats/cube/archive_writer.hpp"
#include "formats/cube/cube.hpp"
#include "formats/cube/cube_anchor.hpp"

namespace timeloom::cube {

namespace {

constexpr char kSparseForm = 1;
constexpr int kCompressionLevel = 1;
constexpr std::size_t kRowPiece = std::size_t{1} << 20;

template <typename Number>
void append(std::string& text, Number number) {
  const auto* bytes = reinterpret_cast<const char*>(&number);
  text.append(bytes, sizeof number);
}

// Rows in the order of the file.
struct Rows {
  std::vector<std::uint32_t> ids;  // their numbers in the index
  std::vector<CnodeId> cnodes;
  std::size_t size = 0;  // of a row, in bytes

  void add(std::uint32_t id, CnodeId cnode) {
    ids.push_back(id);
    cnodes.push_back(cnode);
  }
};

// Cnodes are numbered in pre-order, so the rows of exclusive and simple metrics are in the order of
// their numbers.
Rows rows_of(const MetricRows& values, MetricKind kind, const std::vector<CnodeId>& wide) {
  Rows rows;
  if (kind != MetricKind::kInclusive) {
    for (const CnodeId cnode : values.cnodes) rows.add(cnode.value(), cnode);
    return rows;
  }
  std::vector<bool> wanted(wide.size());
  for (const CnodeId cnode : values.cnodes) wanted[cnode.value()] = true;
  for (std::uint32_t i = 0; i < wide.size(); ++i) {
    if (wanted[wide[i].value()]) rows.add(i, wide[i]);
  }
  return rows;
}

std::string index_of(const Rows& rows) {
  std::string text = "CUBEX.INDEX";
  append(text, std::uint32_t{1});
  append(text, std::uint16_t{0});
  text += kSparseForm;
  append(text, static_cast<std::uint32_t>(rows.ids.size()));
  for (const std::uint32_t id : rows.ids) append(text, id);
  return text;
}

// Passes the bytes of the rows to `take`, some rows at a time.
template <typename Take>
void each_piece(const Rows& rows, const FillRows& fill, const Take& take) {
  const std::size_t most = std::max<std::size_t>(kRowPiece / rows.size, 1);
  std::vector<std::byte> bytes(std::min(most, rows.cnodes.size()) * rows.size);
  std::span<const CnodeId> left = rows.cnodes;
  while (!left.empty()) {
    const auto cnodes = left.first(std::min(most, left.size()));
    const auto piece = std::span(bytes).first(cnodes.size() * rows.size);
    fill(cnodes, piece);
    take(piece);
    left = left.subspan(cnodes.size());
  }
}

constexpr std::string_view kPlainMark = "CUBEX.DATA";

std::uint64_t plain_size(const Rows& rows) {
  return kPlainMark.size() + std::uint64_t{rows.cnodes.size()} * rows.size;
}

void write_plain(const std::string& name, const Rows& rows, const MetricRows& values,
                 ArchiveWriter& archive) {
  archive.begin(name, plain_size(rows));
  archive.add(kPlainMark);
  each_piece(rows, values.fill, [&](std::span<std::byte> piece) { archive.add(piece); });
}

// Appends the bytes as a zlib stream.
class Compressor {
 public:
  // For rows of `size` bytes, each compressed separately: the memory that zlib clears for each must
  // not be much larger than the row.
  explicit Compressor(std::size_t size) {
    const int memory = std::clamp(static_cast<int>(std::bit_width(size)) - 6, 1, 8);
    if (deflateInit2(&stream_, kCompressionLevel, Z_DEFLATED, MAX_WBITS, memory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Compressor() { deflateEnd(&stream_); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  void append(std::span<std::byte> bytes, std::string& to) {
    const std::size_t begin = to.size();
    to.resize(begin + deflateBound(&stream_, static_cast<uLong>(bytes.size())));
    stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    stream_.next_out = reinterpret_cast<Bytef*>(to.data() + begin);
    stream_.avail_out = static_cast<uInt>(to.size() - begin);
    if (deflate(&stream_, Z_FINISH) != Z_STREAM_END) throw std::logic_error("zlib did not finish");
    to.resize(to.size() - stream_.avail_out);
    deflateReset(&stream_);
  }

 private:
  z_stream stream_{};
};

void write_compressed(const std::string& name, const Rows& rows, const MetricRows& values,
                      ArchiveWriter& archive) {
  std::string head = "ZCUBEX.DATA";
  append(head, std::uint64_t{rows.cnodes.size()});
  std::string streams;
  Compressor compressor(rows.size);
  std::uint64_t number = 0;
  each_piece(rows, values.fill, [&](std::span<std::byte> piece) {
    for (; !piece.empty(); piece = piece.subspan(rows.size)) {
      const std::size_t begin = streams.size();
      compressor.append(piece.first(rows.size), streams);
      append(head, number++ * std::uint64_t{rows.size});
      append(head, std::uint64_t{begin});
      append(head, std::uint64_t{streams.size() - begin});
    }
  });
  if ((head.size() + streams.size()) % 512 == 0) streams += '\0';
  archive.begin(name, head.size() + streams.size());
  archive.add(head);
  archive.add(streams);
}

void check(const Cube& cube, const MetricRows& values) {
  if (cube.metrics.at(values.metric.value()).type.size() == 0) {
    throw std::logic_error("values of a metric whose type has no size");
  }
  if (cube.locations.empty()) throw std::logic_error("values of a cube without locations");
}

}  // namespace

FillRows row_by_row(std::function<void(CnodeId cnode, std::span<std::byte> row)> fill_row) {
  return
      [fill_row = std::move(fill_row)](std::span<const CnodeId> cnodes, std::span<std::byte> rows) {
        const std::size_t size = rows.size() / cnodes.size();
        for (std::size_t i = 0; i < cnodes.size(); ++i)
          fill_row(cnodes[i], rows.subspan(i * size, size));
      };
}

void write(const Cube& cube, std::span<const MetricRows> values,
           const std::filesystem::path& file) {
  ArchiveWriter archive(file);
  const std::vector<CnodeId> wide = wide_order(cube);
  for (const MetricRows& one : values) {
    if (one.cnodes.empty()) continue;  // readers cannot take an index without rows
    check(cube, one);
    const Metric& metric = cube.metrics[one.metric.value()];
    const std::string number = std::to_string(one.metric.value());
    Rows rows = rows_of(one, metric.kind, wide);
    rows.size = cube.locations.size() * metric.type.size();
    // Compressed values may have a byte more, which keeps the size from a multiple of a block.
    const bool compress = one.compress || plain_size(rows) % 512 == 0;
    const auto write_values = compress ? write_compressed : write_plain;
    write_values(number + ".data", rows, one, archive);
    archive.add_member(number + ".index", index_of(rows));
  }
  archive.begin_growing(kAnchorName);
  write_anchor(cube, [&](std::string_view text) { archive.add(text); });
  archive.end_growing();
  archive.close();
}

}  // namespace timeloom::cube
