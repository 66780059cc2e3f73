#include "tools/report/report_csv.hpp"

#include <initializer_list>
#include <memory>
#include <string_view>

#include "core/samples/sampled_time.hpp"
#include "exchange/table_columns.hpp"
#include "exchange/tracks.hpp"
#include "formats/csv/csv.hpp"
#include "tools/report/report_compensation.hpp"
#include "tools/run/open_run.hpp"

namespace timeloom::tools {

namespace {

using exchange::ColumnType;
using exchange::RowWriter;
using exchange::TrackKind;

class CsvReport {
 public:
  CsvReport(const profile::CallTree& tree, const std::set<LocationId>& ids,
            const CsvOptions& options)
      : tree_(tree),
        ids_(ids),
        options_(options),
        tracks_(tree.definitions),
        all_(tree, [&](const Location& location) { return ids.contains(location.id); }),
        parameters_(tree),
        metrics_(tree) {}

  void write(bool of_paths, exchange::TableFormat& format) {
    format.begin(columns(of_paths), 1);
    const std::unique_ptr<RowWriter> row = format.rows(0);
    for (std::size_t i = 0; i < tree_.locations.size(); ++i) {
      if (!ids_.contains(tree_.definitions.locations[i].id)) continue;
      const ReportData data = data_of(tree_.definitions.locations[i].id);
      metrics_.begin_location(tree_.locations[i]);
      const Rows rows = of_paths ? data.tree_rows(options_.rows) : data.flat_rows(options_.rows);
      for (const Row& one : rows.rows) {
        place(*row, tracks_.tracks[i]);
        if (of_paths) path(*row, one);
        region(*row, data, one.region);
        figures(*row, one);
        if (of_paths) parameters_.write(*row, one.parameters);
        if (of_paths) metrics_.write(*row, one.node);
        if (!options_.metric.empty()) chosen_metric(*row, one.metric);
        row->end_row();
      }
    }
    row->finish();
    format.end();
  }

 private:
  std::vector<exchange::Column> columns(bool of_paths) const {
    exchange::Columns columns;
    const auto add = [&](ColumnType type, std::initializer_list<const char*> names) {
      for (const char* name : names) columns.add(name, type);
    };
    const auto add_texts = [&](std::initializer_list<const char*> names) {
      for (const char* name : names) columns.add(name, words_);
    };
    add_texts({"process", "thread", "task"});
    if (of_paths) add(ColumnType::kInteger, {"id", "parent", "depth"});
    add_texts({"name", "file"});
    add(ColumnType::kInteger, {"line"});
    add_texts({"group"});
    add(ColumnType::kInteger, {visits_word(tree_.definitions)});
    add(ColumnType::kReal,
        {"inclusive_s", "exclusive_s", "own_s", "working_s", "waiting_s", "unmeasured_s", "mean_s",
         "min_s", "max_s", "inclusive_share", "exclusive_share"});
    add(ColumnType::kInteger, {"given_up"});
    if (all_.estimates().any()) add(ColumnType::kReal, {"own_error_s", "inclusive_error_s"});
    if (options_.compensate) {
      add(ColumnType::kReal, {"compensated_inclusive_s", "compensated_exclusive_s"});
    }
    if (of_paths) parameters_.add_to(columns);
    if (of_paths) metrics_.add_to(columns);
    if (!options_.metric.empty()) {
      add(ColumnType::kInteger, {"metric_inclusive", "metric_exclusive"});
    }
    return columns.all();
  }

  ReportData data_of(LocationId id) const {
    const auto wanted = [id](const Location& location) { return location.id == id; };
    ReportData data(tree_, wanted);
    data.take_shares_of(all_);
    if (options_.compensate) data.compensate(call_cost_of(tree_.definitions));
    if (!options_.metric.empty()) data.add_metric(options_.metric, wanted);
    return data;
  }

  void place(RowWriter& row, const exchange::Track& track) const {
    const bool task = track.kind == TrackKind::kTask;
    text(row, tracks_.processes[track.process].name);
    text(row, task ? std::string_view() : std::string_view(track.name));
    text(row, task ? std::string_view(track.name) : std::string_view());
  }

  static void path(RowWriter& row, const Row& one) {
    row.integer(one.node.value());
    one.parent.defined() ? row.integer(one.parent.value()) : row.none();
    row.integer(one.depth);
  }

  void text(RowWriter& row, std::string_view value) const { row.text(words_->add(value)); }

  void region(RowWriter& row, const ReportData& data, RegionId id) const {
    const Region& region = data.region(id);
    text(row, data.region_name(id));
    text(row, region.file);
    row.integer(region.first_line);
    text(row, region.group);
  }

  void figures(RowWriter& row, const Row& one) const {
    const Figures& figures = one.figures;
    row.integer(figures.visits);
    for (const double number :
         {figures.inclusive, figures.exclusive,
          figures.working + figures.waiting + figures.unmeasured, figures.working, figures.waiting,
          figures.unmeasured, figures.mean, figures.min, figures.max, figures.inclusive_share,
          figures.exclusive_share}) {
      row.real(number);
    }
    row.integer(figures.at_least ? 1 : 0);
    if (all_.estimates().any()) {
      row.real(figures.own_estimate.error());
      row.real(figures.total_estimate.error());
    }
    if (!options_.compensate) return;
    row.real(figures.compensated_inclusive);
    row.real(figures.compensated_exclusive);
  }

  static void chosen_metric(RowWriter& row, const MetricFigures& figures) {
    row.integer(profile::signed_value(figures.inclusive));
    row.integer(profile::signed_value(figures.exclusive));
  }

  const profile::CallTree& tree_;
  const std::set<LocationId>& ids_;
  const CsvOptions& options_;
  exchange::Tracks tracks_;
  ReportData all_;
  exchange::ParameterColumns parameters_;
  exchange::MetricColumns metrics_;
  // The texts of all columns.
  std::shared_ptr<exchange::Words> words_ = std::make_shared<exchange::Words>();
};

void write_to(CsvReport& report, bool of_paths, const std::string& name, bool force) {
  exchange::Destination out(name, force);
  try {
    report.write(of_paths, *csv::table_of(out));
    out.finish();
  } catch (const exchange::ReaderGone&) {
    // It has seen enough.
  }
}

}  // namespace

std::string wrong_usage(const CsvOptions& options) {
  if (options.tree && options.flat && options.output.empty()) {
    return "the tree and the flat table are two tables: -o NAME writes a file of each";
  }
  return {};
}

void write_csv(const profile::CallTree& tree, const std::set<LocationId>& ids,
               const CsvOptions& options) {
  CsvReport report(tree, ids, options);
  if (options.output.empty()) return write_to(report, !options.flat, "-", false);
  const bool both = options.tree == options.flat;
  for (const bool of_paths : {true, false}) {
    if (!both && of_paths != options.tree) continue;
    const std::string name = options.output + (of_paths ? ".tree.csv" : ".flat.csv");
    write_to(report, of_paths, name, options.force);
    print_line("wrote " + name);
  }
}

}  // namespace timeloom::tools
