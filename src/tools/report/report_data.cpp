#include "tools/report/report_data.hpp"

#include <nlohmann/json.hpp>

#include "core/samples/sampled_time.hpp"
#include "tools/report/findings/findings_text.hpp"
#include "tools/run/json_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace {

using nlohmann::ordered_json;

ordered_json row_json(const Row& row, bool tree, const ReportData& data) {
  const Region& region = data.region(row.region);
  const Figures& figures = row.figures;
  ordered_json one;
  if (tree) {
    one["id"] = row.node.value();
    one["parent"] = row.parent.defined() ? ordered_json(row.parent.value()) : ordered_json();
    one["depth"] = row.depth;
  }
  one["name"] = data.region_name(row.region);
  if (tree) {
    one["parameters"] = ordered_json::array();
    for (const profile::ParameterValue& value : data.parameters(row)) {
      one["parameters"].push_back({{"name", value.name}, {"value", value.text}});
    }
  }
  one["file"] = region.file;
  one["line"] = region.first_line;
  one["group"] = region.group;
  one[visits_word(data.definitions())] = figures.visits;
  one["given_up"] = figures.at_least;
  if (data.estimates().any()) {
    one["own_estimated"] = figures.own_estimate.any();
    one["own_error_s"] = figures.own_estimate.error();
    one["inclusive_estimated"] = figures.total_estimate.any();
    one["inclusive_error_s"] = figures.total_estimate.error();
  }
  one["inclusive_s"] = figures.inclusive;
  one["exclusive_s"] = figures.exclusive;
  one["own_s"] = figures.working + figures.waiting + figures.unmeasured;
  one["working_s"] = figures.working;
  one["waiting_s"] = figures.waiting;
  one["unmeasured_s"] = figures.unmeasured;
  if (data.cost()) {
    one["compensated_inclusive_s"] = figures.compensated_inclusive;
    one["compensated_exclusive_s"] = figures.compensated_exclusive;
  }
  one["mean_s"] = figures.mean;
  one["min_s"] = figures.min;
  one["max_s"] = figures.max;
  one["inclusive_share"] = figures.inclusive_share;
  one["exclusive_share"] = figures.exclusive_share;
  if (data.metric() != nullptr) {
    one["metric_inclusive"] = row.metric.inclusive;
    one["metric_exclusive"] = row.metric.exclusive;
  }
  return one;
}

void write_rows(const char* key, const Rows& rows, bool tree, const ReportData& data,
                Output& output) {
  output.write(
      formatted(",\n\"{}\": {{\n  \"hidden_small\": {},\n  \"hidden_deep\": {},\n  \"rows\": [",
                key, rows.hidden.small, rows.hidden.deep));
  const char* separator = "\n    ";
  for (const Row& row : rows.rows) {
    if (output.closed()) return;
    output.write(separator + json_text(row_json(row, tree, data)));
    separator = ",\n    ";
  }
  output.write("\n  ]\n}");
}

}  // namespace

void write_json(const ReportData& data, const CauseTimes& causes, const Findings& findings,
                const RunFacts& facts, const std::string& run, const DataOptions& options,
                Output& output) {
  ordered_json head;
  head["format"] = "timeloom-report";
  head["version"] = 1;
  add_facts(head, facts, run);
  head["findings"] = findings_json(findings);
  head["total_s"] = data.total_seconds();
  head["waiting_causes_s"] = causes_json(causes);
  if (const MetricColumns* metric = data.metric()) {
    head["metric"] = {{"name", metric->name()},
                      {"unit", metric->unit()},
                      {"total", metric->total()},
                      {"outside", metric->outside()}};
  }
  if (data.cost()) {
    head["compensation"] = {{"inside_s", data.cost()->inside}, {"outside_s", data.cost()->outside}};
  }
  std::string text = json_text(head, 0);
  text.erase(text.rfind("\n}"));
  output.write(text);
  if (options.tree) write_rows("tree", data.tree_rows(options.rows), true, data, output);
  if (options.flat) write_rows("flat", data.flat_rows(options.rows), false, data, output);
  output.write("\n}\n");
}

}  // namespace timeloom::tools
