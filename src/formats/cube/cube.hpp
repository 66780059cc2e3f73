// CUBE4 files (`profile.cubex`): writing and reading call-path profiles in the form that other
// performance tools use. docs/formats/cube.md describes the bytes.
//
// Functions may be called from any thread; a Reader is used by one thread at a time. Every defect
// of a file is reported as an Error that names the file.
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

// Makes a FillRows from a function that fills one row.
FillRows row_by_row(std::function<void(CnodeId cnode, std::span<std::byte> row)> fill_row);

// The values of one metric for write(). Rows are requested in groups and in any order, so that the
// values of a large profile need not be in memory.
struct MetricRows {
  CubeMetricId metric;
  // The call paths with a row, ascending; empty: nothing is written. They outlive the call.
  std::span<const CnodeId> cnodes;
  FillRows fill;
  bool compress = false;  // with zlib, a stream for each row
};

// Writes the file; an existing one is overwritten. Each metric comes at most once in `values`.
// Metrics, regions, call paths and locations are numbered as in `cube`.
void write(const Cube& cube, std::span<const MetricRows> values, const std::filesystem::path& file);

// The values of one metric, read from a file. Owns the values; any thread may read.
class Values {
 public:
  // `row_of`: for each call path its row number, or kNoRow.
  Values(ValueType type, std::size_t locations, std::vector<std::uint32_t> row_of,
         std::unique_ptr<std::byte[]> data);
  static constexpr std::uint32_t kNoRow = UINT32_MAX;

  ValueType type() const noexcept { return type_; }
  bool has_row(CnodeId cnode) const noexcept { return row_of_[cnode.value()] != kNoRow; }
  // One value for each location; a call path without a row in the file has neutral values.
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
  // The same from a seekable stream; errors use `name`.
  Reader(std::unique_ptr<std::istream> stream, std::string name);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) = delete;

  const Cube& cube() const noexcept;
  // The numbers of call paths, metrics and regions in the file.
  std::uint32_t number_of(CnodeId cnode) const noexcept;
  std::uint32_t number_of(CubeMetricId metric) const noexcept;
  std::uint32_t number_of(CubeRegionId region) const noexcept;
  // True if the file holds values of the metric.
  bool has_values(CubeMetricId metric) const;
  // Reads and checks the values; for a metric without values all are neutral. Throws Error.
  Values values(CubeMetricId metric) const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace timeloom::cube
