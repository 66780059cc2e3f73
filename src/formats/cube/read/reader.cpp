// Finds and checks the values of metrics in a CUBE file.
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "formats/cube/cube.hpp"
#include "formats/cube/cube_anchor.hpp"
#include "formats/cube/read/archive_reader.hpp"
#include "formats/cube/read/inflate.hpp"

namespace timeloom::cube {

namespace {

constexpr std::string_view kIndexMark = "CUBEX.INDEX";
constexpr std::string_view kDataMark = "CUBEX.DATA";
constexpr std::string_view kCompressedMark = "ZCUBEX.DATA";
constexpr std::size_t kIndexHead = 18;
// zlib compresses at most by a factor of about 1030.
constexpr std::uint64_t kMostGrowth = 1100;

template <typename Number>
Number load(const char* from, bool swapped) {
  std::array<char, sizeof(Number)> bytes{};
  std::memcpy(bytes.data(), from, bytes.size());
  if (swapped) std::ranges::reverse(bytes);
  return std::bit_cast<Number>(bytes);
}

struct Index {
  bool swapped = false;  // the bytes of all numbers
  std::vector<std::uint32_t> rows;
};

std::vector<std::uint32_t> all_rows(std::size_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

Index parse_index(const std::string& text, std::size_t cnodes) {
  constexpr char kSparse = 1;
  constexpr char kDense = 3;
  if (!text.starts_with(kIndexMark) || text.size() < kIndexHead) {
    throw Damage{"it does not begin as an index does"};
  }
  Index index;
  const auto probe = load<std::uint32_t>(text.data() + 11, false);
  index.swapped = probe == 0x01000000;
  if (probe != 1 && !index.swapped) throw Damage{"its byte order is unknown"};
  const char format = text[17];
  if (format == kDense) {
    index.rows = all_rows(cnodes);
    return index;
  }
  if (format != kSparse) throw Damage{"its form is unknown"};
  if (text.size() < kIndexHead + 4) throw Damage{"it is cut off"};
  const auto count = load<std::uint32_t>(text.data() + kIndexHead, index.swapped);
  const char* at = text.data() + kIndexHead + 4;
  if ((text.size() - kIndexHead - 4) / 4 < count) throw Damage{"it is cut off"};
  index.rows.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i, at += 4) {
    const auto row = load<std::uint32_t>(at, index.swapped);
    if (row >= cnodes) throw Damage{"it names a row that no call path has"};
    if (i > 0 && row <= index.rows.back()) throw Damage{"its rows are not in order"};
    index.rows.push_back(row);
  }
  return index;
}

std::unique_ptr<std::istream> open_file(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw Error(file.string() + " is a directory; name a .cubex file [TL312]");
  }
  auto stream = std::make_unique<std::ifstream>(file, std::ios::binary);
  if (!*stream)
    throw Error("cannot read " + file.string() + ": " + std::strerror(errno) + " [TL301]");
  return stream;
}

}  // namespace

struct Reader::Contents {
  Contents(std::unique_ptr<std::istream> stream, std::string file_name)
      : name(std::move(file_name)), archive(std::move(stream)) {}

  void read_anchor();
  std::string member_name(CubeMetricId metric, const char* kind) const {
    return std::to_string(anchor.metrics[metric.value()]) + kind;
  }
  const Member* member(CubeMetricId metric, const char* kind) const {
    return archive.find(member_name(metric, kind));
  }
  const Member& needed(CubeMetricId metric, const char* kind) const {
    const Member* found = member(metric, kind);
    if (found == nullptr) throw Damage{"it is missing"};
    return *found;
  }
  std::vector<std::uint32_t> rows_of_cnodes(CubeMetricId metric, const Index& index) const;
  void read_rows(const Member& data, const Index& index, std::size_t row_size,
                 std::span<std::byte> rows) const;
  std::uint64_t size_of_rows(const Member& data, std::uint64_t rows, std::uint64_t row_size) const;
  void read_compressed(const Member& data, const Index& index, std::size_t row_size,
                       std::span<std::byte> rows) const;
  bool starts_with(const Member& data, std::string_view mark) const;
  Values values(CubeMetricId metric) const;

  std::string name;
  ArchiveReader archive;
  Anchor anchor;
};

void Reader::Contents::read_anchor() {
  const Member* member = archive.find(kAnchorName);
  if (member == nullptr) throw Damage{"it holds no anchor.xml"};
  std::string text = archive.read_all(*member);
  if (text.starts_with("\x1f\x8b")) {
    GzipText pieces(std::move(text));
    anchor = parse_anchor([&] { return pieces.next(); });
    return;
  }
  bool given = false;
  anchor = parse_anchor(
      [&]() -> std::string_view { return std::exchange(given, true) ? std::string_view() : text; });
}

// The call path of each row of this metric.
std::vector<std::uint32_t> Reader::Contents::rows_of_cnodes(CubeMetricId metric,
                                                            const Index& index) const {
  const Cube& cube = anchor.cube;
  std::vector<std::uint32_t> row_of(cube.cnodes.size(), Values::kNoRow);
  const auto number = static_cast<std::uint32_t>(index.rows.size());
  switch (cube.metrics[metric.value()].kind) {
    case MetricKind::kInclusive: {
      const std::vector<CnodeId> wide = wide_order(cube);
      for (std::uint32_t i = 0; i < number; ++i) row_of[wide[index.rows[i]].value()] = i;
      break;
    }
    case MetricKind::kSimple: {
      std::vector<std::uint32_t> of_number(cube.cnodes.size());
      for (std::uint32_t i = 0; i < of_number.size(); ++i) of_number[anchor.cnodes[i]] = i;
      for (std::uint32_t i = 0; i < number; ++i) row_of[of_number[index.rows[i]]] = i;
      break;
    }
    default:
      for (std::uint32_t i = 0; i < number; ++i) row_of[index.rows[i]] = i;
  }
  return row_of;
}

bool Reader::Contents::starts_with(const Member& data, std::string_view mark) const {
  std::string begin(mark.size(), '\0');
  if (data.size < begin.size()) return false;
  archive.read(data, 0, std::as_writable_bytes(std::span(begin)));
  return begin == mark;
}

// The bytes that the rows need; checked against the size that the member can have.
std::uint64_t Reader::Contents::size_of_rows(const Member& data, std::uint64_t rows,
                                             std::uint64_t row_size) const {
  const bool compressed = starts_with(data, kCompressedMark);
  const std::uint64_t most = compressed ? data.size * kMostGrowth : data.size;
  if (rows != 0 && row_size > most / rows) {
    throw Damage{"it is too short for its rows"};
  }
  return rows * row_size;
}

void Reader::Contents::read_rows(const Member& data, const Index& index, std::size_t row_size,
                                 std::span<std::byte> rows) const {
  if (starts_with(data, kCompressedMark)) return read_compressed(data, index, row_size, rows);
  if (!starts_with(data, kDataMark)) throw Damage{"it does not begin as values do"};
  if (data.size - kDataMark.size() < rows.size()) throw Damage{"it is too short for its rows"};
  archive.read(data, kDataMark.size(), rows);
}

void Reader::Contents::read_compressed(const Member& data, const Index& index, std::size_t row_size,
                                       std::span<std::byte> rows) const {
  const std::string text = archive.read_all(data);
  const std::uint64_t head = kCompressedMark.size() + 8;
  if (text.size() < head) throw Damage{"it is cut off"};
  const auto count = load<std::uint64_t>(text.data() + kCompressedMark.size(), index.swapped);
  if (count != index.rows.size()) throw Damage{"its rows are not the rows of the index"};
  if (count > (text.size() - head) / 24) throw Damage{"it is cut off"};
  const auto streams = std::as_bytes(std::span(text)).subspan(head + count * 24);
  for_each_in_parallel(count, std::thread::hardware_concurrency(), [&](std::size_t i) {
    const char* entry = text.data() + head + i * 24;
    const auto at = load<std::uint64_t>(entry, index.swapped);
    const auto begin = load<std::uint64_t>(entry + 8, index.swapped);
    const auto size = load<std::uint64_t>(entry + 16, index.swapped);
    if (at != i * row_size) throw Damage{"its rows are not in order"};
    if (begin > streams.size() || size > streams.size() - begin) throw Damage{"it is cut off"};
    inflate_row(streams.subspan(begin, size), rows.subspan(at, row_size));
  });
}

Values Reader::Contents::values(CubeMetricId id) const {
  const Metric& metric = anchor.cube.metrics[id.value()];
  const std::size_t locations = anchor.cube.locations.size();
  if (metric.type.size() == 0) {
    throw Damage{"values of the type " + metric.type.name() + " are not read"};
  }
  if (member(id, ".index") == nullptr && member(id, ".data") == nullptr) {
    std::vector<std::uint32_t> none(anchor.cube.cnodes.size(), Values::kNoRow);
    return {metric.type, locations, std::move(none), nullptr};
  }
  const char* part = ".index";
  try {
    const Index index = parse_index(archive.read_all(needed(id, part)), anchor.cube.cnodes.size());
    part = ".data";
    const Member& data = needed(id, part);
    const std::size_t row_size = locations * metric.type.size();
    const std::uint64_t size = size_of_rows(data, index.rows.size(), row_size);
    auto bytes = std::make_unique_for_overwrite<std::byte[]>(size);
    const std::span<std::byte> rows(bytes.get(), size);
    read_rows(data, index, row_size, rows);
    if (index.swapped) swap_bytes(metric.type, rows);
    return {metric.type, locations, rows_of_cnodes(id, index), std::move(bytes)};
  } catch (const Damage& damage) {
    throw Damage{"its member '" + member_name(id, part) + "': " + damage.what};
  }
}

namespace {

template <typename Work>
auto naming(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const Damage& damage) {
    throw Error(name + " cannot be read as a CUBE4 profile: " + damage.what + " [TL313]");
  }
}

}  // namespace

Reader::Reader(const std::filesystem::path& file) : Reader(open_file(file), file.string()) {}

Reader::Reader(std::unique_ptr<std::istream> stream, std::string name) {
  naming(name, [&] {
    contents_ = std::make_unique<Contents>(std::move(stream), name);
    contents_->archive.check_members();
    contents_->read_anchor();
    return true;
  });
}

Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;

const Cube& Reader::cube() const noexcept { return contents_->anchor.cube; }

std::uint32_t Reader::number_of(CnodeId cnode) const noexcept {
  return contents_->anchor.cnodes[cnode.value()];
}
std::uint32_t Reader::number_of(CubeMetricId metric) const noexcept {
  return contents_->anchor.metrics[metric.value()];
}
std::uint32_t Reader::number_of(CubeRegionId region) const noexcept {
  return contents_->anchor.regions[region.value()];
}

bool Reader::has_values(CubeMetricId metric) const {
  return contents_->member(metric, ".data") != nullptr;
}

Values Reader::values(CubeMetricId metric) const {
  return naming(contents_->name, [&] { return contents_->values(metric); });
}

Values::Values(ValueType type, std::size_t locations, std::vector<std::uint32_t> row_of,
               std::unique_ptr<std::byte[]> data)
    : type_(type),
      row_size_(locations * type.size()),
      row_of_(std::move(row_of)),
      data_(std::move(data)),
      neutral_(row_size_) {
  fill_neutral(type, neutral_);
}

std::span<const std::byte> Values::row(CnodeId cnode) const noexcept {
  const std::uint32_t row = row_of_[cnode.value()];
  if (row == kNoRow) return neutral_;
  return {data_.get() + std::size_t{row} * row_size_, row_size_};
}

}  // namespace timeloom::cube
