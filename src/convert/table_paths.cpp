// The tables of call paths and of regions.

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "convert/exclusive_times.hpp"
#include "convert/names.hpp"
#include "convert/table.hpp"
#include "convert/text.hpp"
#include "convert/tracks.hpp"
#include "profile/flat_profile.hpp"

namespace timeloom::convert {

namespace {

using profile::CallTree;
using profile::NodeId;

std::optional<std::int64_t> whole_number(const profile::ParameterValue& value) {
  std::int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto read = std::from_chars(value.text.data(), end, number);
  if (!value.numeric || read.ec != std::errc{} || read.ptr != end) return {};
  return number;
}

// Column names, of which none comes twice.
class Columns {
 public:
  void add(std::string name, ColumnType type) {
    const std::string wanted = name;
    for (int i = 2; !taken_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
    columns_.push_back({name, type});
  }
  const std::vector<Column>& all() const noexcept { return columns_; }

 private:
  std::vector<Column> columns_;
  std::set<std::string> taken_;
};

void add_place_columns(Columns& columns) {
  for (const char* name : {"process", "thread", "kind"}) columns.add(name, ColumnType::kText);
}

void add_region_columns(Columns& columns) {
  columns.add("name", ColumnType::kText);
  columns.add("file", ColumnType::kText);
  columns.add("line", ColumnType::kInteger);
  columns.add("module", ColumnType::kText);
  columns.add("category", ColumnType::kText);
}

void add_time_columns(Columns& columns) {
  for (const char* name : {"visits", "inclusive_ns", "exclusive_ns", "min_ns", "max_ns"}) {
    columns.add(name, ColumnType::kInteger);
  }
}

std::string_view kind_of(const Track& track) {
  switch (track.kind) {
    case TrackKind::kTask: return "task";
    case TrackKind::kMetrics: return "metrics";
    case TrackKind::kThread: break;
  }
  return "thread";
}

// The cells that all tables have.
class Cells {
 public:
  explicit Cells(const Definitions& definitions)
      : definitions_(definitions), tracks_(definitions), clock_(definitions.clock) {}

  void place(RowWriter& row, std::size_t location) const {
    const Track& track = tracks_.tracks[location];
    row.text(tracks_.processes[track.process].name);
    row.text(track.name);
    row.text(kind_of(track));
  }

  void region(RowWriter& row, RegionId id) const {
    static const Region kNone;
    const Region& region = id.defined() ? definitions_.regions[id.value()] : kNone;
    row.text(region_name(definitions_, id));
    row.text(region.file);
    row.integer(region.first_line);
    row.text(region.group);
    row.text(name_of(category_of(region)));
  }

  void times(RowWriter& row, const profile::Statistics& statistics, std::uint64_t exclusive) const {
    row.integer(profile::signed_value(statistics.visits));
    time(row, statistics.inclusive);
    time(row, exclusive);
    const bool known = statistics.min != UINT64_MAX;
    if (known) {
      time(row, statistics.min);
      time(row, statistics.max);
    } else {
      row.none();
      row.none();
    }
  }

 private:
  // Of a difference of two profiles, times may be negative.
  void time(RowWriter& row, std::uint64_t ticks) const {
    const std::int64_t value = profile::signed_value(ticks);
    row.integer(value < 0 ? -profile::signed_value(clock_.nanoseconds(-ticks))
                          : profile::signed_value(clock_.nanoseconds(ticks)));
  }

  const Definitions& definitions_;
  Tracks tracks_;
  RunClock clock_;
};

// A column for each parameter, with the values that tell a call path apart.
class ParameterColumns {
 public:
  explicit ParameterColumns(const CallTree& tree) : tree_(tree) {
    for (const profile::ParameterSet& set : tree.parameter_sets) {
      for (const profile::ParameterValue& value : set) {
        const auto [found, fresh] = places_.try_emplace(value.name, names_.size());
        if (fresh) {
          names_.push_back(value.name);
          numeric_.push_back(true);
        }
        if (!whole_number(value)) numeric_[found->second] = false;
      }
    }
  }

  void add_to(Columns& columns) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      columns.add("parameter." + utf8(names_[i]),
                  numeric_[i] ? ColumnType::kInteger : ColumnType::kText);
    }
  }

  void write(RowWriter& row, profile::ParameterSetId id) const {
    static const profile::ParameterSet kNone;
    const profile::ParameterSet& set = id.defined() ? tree_.parameter_sets[id.value()] : kNone;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto found = std::ranges::find(set, names_[i], &profile::ParameterValue::name);
      if (found == set.end()) {
        row.none();
      } else if (numeric_[i]) {
        row.integer(*whole_number(*found));
      } else {
        row.text(found->text);
      }
    }
  }

 private:
  const CallTree& tree_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> names_;
  std::vector<bool> numeric_;
};

// A column for each sampled metric (what a call path came to itself), four for each counter of the
// program. REQUIRES: rows of a location in order of its nodes.
class MetricColumns {
 public:
  explicit MetricColumns(const CallTree& tree)
      : metrics_(tree.definitions.metrics), used_(metrics_.size()) {
    // Sampled metrics have a column in every run that samples them.
    for (std::size_t i = 0; i < used_.size(); ++i) used_[i] = metrics_[i].sampled();
    for (const profile::LocationProfile& location : tree.locations) {
      for (const profile::MetricCell& cell : location.metrics) used_[cell.metric.value()] = true;
      for (const profile::SampleCell& cell : location.samples) used_[cell.metric.value()] = true;
    }
  }

  void add_to(Columns& columns) const {
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      if (!used_[i]) continue;
      const Metric& metric = metrics_[i];
      const std::string name = "metric." + utf8(metric_name(metric));
      if (metric.sampled()) {
        columns.add(name, ColumnType::kInteger);
        continue;
      }
      columns.add(name + ".count", ColumnType::kInteger);
      for (const char* what : {".sum", ".min", ".max"}) columns.add(name + what, ColumnType::kReal);
    }
  }

  void begin_location(const profile::LocationProfile& location) {
    location_ = &location;
    counter_.clear();
    sample_.clear();
    for (std::uint32_t i = 0; i < metrics_.size(); ++i) {
      const MetricId id{i};
      counter_.push_back(first_of(location.metrics, id));
      sample_.push_back(first_of(location.samples, id));
    }
  }

  void write(RowWriter& row, NodeId node) {
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      if (!used_[i]) continue;
      if (metrics_[i].sampled()) {
        const auto* const cell = cell_at(location_->samples, sample_[i], i, node);
        cell == nullptr ? row.none() : row.integer(profile::signed_value(cell->value));
        continue;
      }
      const auto* const cell = cell_at(location_->metrics, counter_[i], i, node);
      if (cell == nullptr) {
        for (int column = 0; column < 4; ++column) row.none();
        continue;
      }
      row.integer(profile::signed_value(cell->statistics.count));
      row.real(cell->statistics.sum);
      row.real(cell->statistics.min);
      row.real(cell->statistics.max);
    }
  }

 private:
  template <typename AnyCell>
  static std::size_t first_of(const std::vector<AnyCell>& cells, MetricId metric) {
    const auto found = std::ranges::lower_bound(cells, metric, {}, &AnyCell::metric);
    return static_cast<std::size_t>(found - cells.begin());
  }

  // The cell of that node, if there is one; goes on from the last place.
  template <typename AnyCell>
  static const AnyCell* cell_at(const std::vector<AnyCell>& cells, std::size_t& place,
                                std::size_t metric, NodeId node) {
    const auto is_before = [&] {
      return place < cells.size() && cells[place].metric.value() == metric &&
             cells[place].node < node;
    };
    while (is_before()) ++place;
    const bool there =
        place < cells.size() && cells[place].metric.value() == metric && cells[place].node == node;
    return there ? &cells[place] : nullptr;
  }

  const std::vector<Metric>& metrics_;
  std::vector<bool> used_;  // by metric: some call path has a value
  const profile::LocationProfile* location_ = nullptr;
  std::vector<std::size_t> counter_;  // by metric: the next cell
  std::vector<std::size_t> sample_;
};

void write_regions(const CallTree& tree, TableFormat& format) {
  Columns columns;
  add_place_columns(columns);
  add_region_columns(columns);
  add_time_columns(columns);
  format.begin(columns.all());
  const Cells cells(tree.definitions);
  const std::unique_ptr<RowWriter> row = format.rows();
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    const LocationId id = tree.definitions.locations[i].id;
    const auto totals =
        sum_locations(tree, [&](const Location& location) { return location.id == id; });
    for (const profile::FlatRow& region : profile::flat_profile(tree, totals)) {
      cells.place(*row, i);
      cells.region(*row, region.region);
      cells.times(*row, region.totals, region.totals.exclusive);
      row->end_row();
    }
  }
  row->finish();
  format.end();
}

}  // namespace

void write_table_of_paths(const CallTree& tree, const Options& options, TableFormat& format) {
  if (options.flat) return write_regions(tree, format);
  const ParameterColumns parameters(tree);
  MetricColumns metrics(tree);
  Columns columns;
  add_place_columns(columns);
  for (const char* name : {"id", "parent", "depth"}) columns.add(name, ColumnType::kInteger);
  add_region_columns(columns);
  add_time_columns(columns);
  parameters.add_to(columns);
  metrics.add_to(columns);
  format.begin(columns.all());
  const Cells cells(tree.definitions);
  ExclusiveTimes times(tree);
  const std::unique_ptr<RowWriter> row = format.rows();
  for (std::size_t i = 0; i < tree.locations.size(); ++i) {
    metrics.begin_location(tree.locations[i]);
    times.for_each(tree.locations[i], [&](const profile::Cell& cell, std::uint64_t exclusive) {
      const profile::Node& node = tree.nodes[cell.node.value()];
      cells.place(*row, i);
      row->integer(cell.node.value());
      node.parent.defined() ? row->integer(node.parent.value()) : row->none();
      row->integer(node.depth);
      cells.region(*row, node.region);
      cells.times(*row, cell.statistics, exclusive);
      parameters.write(*row, node.parameters);
      metrics.write(*row, cell.node);
      row->end_row();
    });
  }
  row->finish();
  format.end();
}

}  // namespace timeloom::convert
