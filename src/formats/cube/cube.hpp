// CUBE4 files (`profile.cubex`): writing and reading call-path profiles as the
// tools of the field do. docs/formats/cube.md describes the bytes.
//
// Functions may be called from any thread; a Reader is used by one at a time.
// All defects of a file are reported by one Error that names it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/cube/cube_model.hpp"

namespace timeloom::cube {

// Fills the rows of call paths, one after the other, with one value for each location.
using FillRows = std::function<void(std::span<const CnodeId> cnodes, std::span<std::byte> rows)>;

// Of what makes one row.
FillRows row_by_row(std::function<void(CnodeId cnode, std::span<std::byte> row)> fill_row);

// The values of one metric, to be written. Rows are asked for some at a time, in any order,
// so that the values of a large profile need not be in memory.
struct MetricRows {
  CubeMetricId metric;
  // The call paths with a row, ascending; none: nothing is written. They outlive the call.
  std::span<const CnodeId> cnodes;
  FillRows fill;
  bool compress = false;  // with zlib, a stream for each row
};

// Writes the file, which is overwritten. Every metric comes at most once in
// `values`; metrics, regions, call paths and locations are numbered as in `cube`.
void write(const Cube& cube, std::span<const MetricRows> values, const std::filesystem::path& file);

// The values of one metric, read from a file. Owns them; read by any thread.
class Values {
 public:
  // `row_of`: for each call path the number of its row, kNoRow without one.
  Values(ValueType type, std::size_t locations, std::vector<std::uint32_t> row_of,
         std::unique_ptr<std::byte[]> data);
  static constexpr std::uint32_t kNoRow = UINT32_MAX;

  ValueType type() const noexcept { return type_; }
  bool has_row(CnodeId cnode) const noexcept { return row_of_[cnode.value()] != kNoRow; }
  // One value a location; without a row in the file those that change nothing.
  std::span<const std::byte> row(CnodeId cnode) const noexcept;
  const std::byte* at(CnodeId cnode, CubeLocationId location) const noexcept {
    return row(cnode).data() + location.value() * type_.size();
  }

 private:
  ValueType type_;
  std::size_t row_size_;
  std::vector<std::uint32_t> row_of_;
  std::unique_ptr<std::byte[]> data_;
  std::vector<std::byte> neutral_;
};

class Reader {
 public:
  // Reads and checks everything but the values; throws Error.
  explicit Reader(const std::filesystem::path& file);
  // The same from a stream that can be positioned; `name` is what an error calls it.
  Reader(std::unique_ptr<std::istream> stream, std::string name);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) = delete;

  const Cube& cube() const noexcept;
  // The number that the file gives a call path, a metric, a region.
  std::uint32_t number_of(CnodeId cnode) const noexcept;
  std::uint32_t number_of(CubeMetricId metric) const noexcept;
  std::uint32_t number_of(CubeRegionId region) const noexcept;
  // True if the file holds values of the metric.
  bool has_values(CubeMetricId metric) const;
  // Reads and checks them; of a metric without values all are neutral. Throws Error.
  Values values(CubeMetricId metric) const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace timeloom::cube
