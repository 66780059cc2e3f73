// The tables of call paths and of regions.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exchange/event_table.hpp"
#include "exchange/exclusive_times.hpp"
#include "exchange/names.hpp"
#include "exchange/table_columns.hpp"
#include "exchange/tracks.hpp"
#include "profile/flat_profile.hpp"

namespace timeloom::exchange {

namespace {

using profile::CallTree;

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

// The columns that all tables have, and their cells.
class Cells {
 public:
  explicit Cells(const Definitions& definitions)
      : definitions_(definitions), tracks_(definitions), clock_(definitions.clock) {
    for (const Track& track : tracks_.tracks) {
      places_.push_back({process_->add(tracks_.processes[track.process].name),
                         thread_->add(track.name), kind_->add(kind_of(track))});
    }
    for (std::uint32_t i = 0; i <= definitions.regions.size(); ++i) {
      const RegionId id = i < definitions.regions.size() ? RegionId{i} : RegionId{};
      const Region& region = region_of(id);
      regions_.push_back({name_->add(region_name(definitions, id)), file_->add(region.file),
                          module_->add(region.group),
                          category_->add(name_of(category_of(region)))});
    }
  }

  void add_places_to(Columns& columns) const {
    columns.add("process", process_);
    columns.add("thread", thread_);
    columns.add("kind", kind_);
  }

  void add_regions_to(Columns& columns) const {
    columns.add("name", name_);
    columns.add("file", file_);
    columns.add("line", ColumnType::kInteger);
    columns.add("module", module_);
    columns.add("category", category_);
  }

  void place(RowWriter& row, std::size_t location) const {
    for (const std::uint32_t word : places_[location]) row.text(word);
  }

  void region(RowWriter& row, RegionId id) const {
    const auto& words = id.defined() ? regions_[id.value()] : regions_.back();
    row.text(words[0]);
    row.text(words[1]);
    row.integer(region_of(id).first_line);
    row.text(words[2]);
    row.text(words[3]);
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
  // Times may be negative in a difference of two profiles.
  void time(RowWriter& row, std::uint64_t ticks) const {
    const std::int64_t value = profile::signed_value(ticks);
    row.integer(value < 0 ? -profile::signed_value(clock_.nanoseconds(-ticks))
                          : profile::signed_value(clock_.nanoseconds(ticks)));
  }

  const Region& region_of(RegionId id) const {
    static const Region kNone;
    return id.defined() ? definitions_.regions[id.value()] : kNone;
  }

  using Shared = std::shared_ptr<Words>;
  Shared process_ = std::make_shared<Words>(), thread_ = std::make_shared<Words>(),
         kind_ = std::make_shared<Words>(), name_ = std::make_shared<Words>(),
         file_ = std::make_shared<Words>(), module_ = std::make_shared<Words>(),
         category_ = std::make_shared<Words>();
  const Definitions& definitions_;
  Tracks tracks_;
  RunClock clock_;
  std::vector<std::array<std::uint32_t, 3>> places_;   // by location
  std::vector<std::array<std::uint32_t, 4>> regions_;  // by region; the last: beyond a limit
};

void write_regions(const CallTree& tree, TableFormat& format) {
  const Cells cells(tree.definitions);
  Columns columns;
  cells.add_places_to(columns);
  cells.add_regions_to(columns);
  add_time_columns(columns);
  format.begin(columns.all(), 1);
  const std::unique_ptr<RowWriter> row = format.rows(0);
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
  const Cells cells(tree.definitions);
  Columns columns;
  cells.add_places_to(columns);
  for (const char* name : {"id", "parent", "depth"}) columns.add(name, ColumnType::kInteger);
  cells.add_regions_to(columns);
  add_time_columns(columns);
  parameters.add_to(columns);
  metrics.add_to(columns);
  format.begin(columns.all(), 1);
  ExclusiveTimes times(tree);
  const std::unique_ptr<RowWriter> row = format.rows(0);
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

}  // namespace timeloom::exchange
