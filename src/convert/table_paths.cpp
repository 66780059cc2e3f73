// The tables of call paths and of regions.

#include "convert/exclusive_times.hpp"
#include "convert/names.hpp"
#include "convert/table.hpp"
#include "convert/table_columns.hpp"
#include "convert/tracks.hpp"
#include "profile/flat_profile.hpp"

namespace timeloom::convert {

namespace {

using profile::CallTree;

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
