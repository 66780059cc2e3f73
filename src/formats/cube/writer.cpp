// Writes the values of metrics and puts the parts of the file together.
#include <zlib.h>

#include <bit>
#include <cstring>
#include <stdexcept>

#include "core/error.hpp"
#include "formats/cube/anchor.hpp"
#include "formats/cube/archive_writer.hpp"
#include "formats/cube/cube.hpp"

namespace timeloom::cube {

namespace {

constexpr char kSparse = 1;
constexpr int kCompressionLevel = 1;
constexpr std::size_t kPiece = std::size_t{1} << 20;

template <typename Number>
void append(std::string& text, Number number) {
  const auto* bytes = reinterpret_cast<const char*>(&number);
  text.append(bytes, sizeof number);
}

struct Row {
  std::uint32_t id;  // what the index calls it
  CnodeId cnode;
};

// In the order of the file. Cnodes are numbered in pre-order, so that is the
// order of exclusive and of simple metrics.
std::vector<Row> rows_of(const MetricRows& values, MetricKind kind,
                         const std::vector<CnodeId>& wide) {
  std::vector<Row> rows;
  rows.reserve(values.cnodes.size());
  if (kind != MetricKind::kInclusive) {
    for (const CnodeId cnode : values.cnodes) rows.push_back({cnode.value(), cnode});
    return rows;
  }
  std::vector<bool> wanted(wide.size());
  for (const CnodeId cnode : values.cnodes) wanted[cnode.value()] = true;
  for (std::uint32_t i = 0; i < wide.size(); ++i) {
    if (wanted[wide[i].value()]) rows.push_back({i, wide[i]});
  }
  return rows;
}

std::string index_of(const std::vector<Row>& rows) {
  std::string text = "CUBEX.INDEX";
  append(text, std::uint32_t{1});
  append(text, std::uint16_t{0});
  text += kSparse;
  append(text, static_cast<std::uint32_t>(rows.size()));
  for (const Row& row : rows) append(text, row.id);
  return text;
}

void write_plain(const std::string& name, const std::vector<Row>& rows, std::size_t row_size,
                 const MetricRows& values, ArchiveWriter& archive) {
  constexpr std::string_view kMark = "CUBEX.DATA";
  archive.begin(name, kMark.size() + std::uint64_t{rows.size()} * row_size);
  archive.add(kMark);
  std::vector<std::byte> piece;
  piece.reserve(kPiece + row_size);
  for (const Row& row : rows) {
    piece.resize(piece.size() + row_size);
    values.fill(row.cnode, std::span(piece).last(row_size));
    if (piece.size() < kPiece) continue;
    archive.add(piece);
    piece.clear();
  }
  archive.add(piece);
}

// Appends a zlib stream with the bytes.
class Compressor {
 public:
  Compressor() {
    if (deflateInit(&stream_, kCompressionLevel) != Z_OK) throw std::bad_alloc();
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

void write_compressed(const std::string& name, const std::vector<Row>& rows, std::size_t row_size,
                      const MetricRows& values, ArchiveWriter& archive) {
  std::string head = "ZCUBEX.DATA";
  append(head, std::uint64_t{rows.size()});
  std::string streams;
  Compressor compressor;
  std::vector<std::byte> bytes(row_size);
  std::uint64_t number = 0;
  for (const Row& row : rows) {
    const std::size_t begin = streams.size();
    values.fill(row.cnode, bytes);
    compressor.append(bytes, streams);
    append(head, number++ * std::uint64_t{row_size});
    append(head, std::uint64_t{begin});
    append(head, std::uint64_t{streams.size() - begin});
  }
  if ((head.size() + streams.size()) % 512 == 0) streams += '\0';
  archive.begin(name, head.size() + streams.size());
  archive.add(head);
  archive.add(streams);
}

void check(const Cube& cube, const MetricRows& values) {
  if (cube.metrics.at(values.metric.value()).type.size() == 0) {
    throw std::logic_error("values of a metric whose type has no size");
  }
}

}  // namespace

void write(const Cube& cube, std::span<const MetricRows> values, const std::filesystem::path& file,
           const WriteOptions& options) {
  ArchiveWriter archive(file);
  const std::vector<CnodeId> wide = wide_order(cube);
  for (const MetricRows& one : values) {
    if (one.cnodes.empty()) continue;  // readers cannot take an index without rows
    check(cube, one);
    const Metric& metric = cube.metrics[one.metric.value()];
    const std::string number = std::to_string(one.metric.value());
    const std::vector<Row> rows = rows_of(one, metric.kind, wide);
    const std::size_t row_size = cube.locations.size() * metric.type.size();
    const auto write_values = options.compress ? write_compressed : write_plain;
    write_values(number + ".data", rows, row_size, one, archive);
    archive.add_member(number + ".index", index_of(rows));
  }
  archive.begin_growing(kAnchorName);
  write_anchor(cube, [&](std::string_view text) { archive.add(text); });
  archive.end_growing();
  archive.close();
}

}  // namespace timeloom::cube
