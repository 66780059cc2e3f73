#include "exchange/table_columns.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "core/samples/sampled_time.hpp"
#include "exchange/format_text.hpp"
#include "exchange/names.hpp"

namespace timeloom::exchange {

using profile::CallTree;
using profile::NodeId;

namespace {

std::optional<std::int64_t> whole_number(const profile::ParameterValue& value) {
  std::int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto read = std::from_chars(value.text.data(), end, number);
  if (!value.numeric || read.ec != std::errc{} || read.ptr != end) return {};
  return number;
}

template <typename AnyCell>
std::size_t first_of(const std::vector<AnyCell>& cells, MetricId metric) {
  const auto found = std::ranges::lower_bound(cells, metric, {}, &AnyCell::metric);
  return static_cast<std::size_t>(found - cells.begin());
}

// The cell of that node, if there is one. The search goes on from the last place, or back.
template <typename AnyCell>
const AnyCell* cell_at(const std::vector<AnyCell>& cells, std::size_t& place, MetricId metric,
                       NodeId node) {
  const auto is_before = [&](std::size_t at) {
    return cells[at].metric == metric && cells[at].node < node;
  };
  const bool is_behind = place > 0 && cells[place - 1].metric == metric && !is_before(place - 1);
  if (is_behind) {
    const auto found = std::ranges::lower_bound(
        cells, std::tuple(metric, node), {},
        [](const AnyCell& cell) { return std::tuple(cell.metric, cell.node); });
    place = static_cast<std::size_t>(found - cells.begin());
  }
  while (place < cells.size() && is_before(place)) ++place;
  const bool there =
      place < cells.size() && cells[place].metric == metric && cells[place].node == node;
  return there ? &cells[place] : nullptr;
}

}  // namespace

std::string Columns::free(std::string name) {
  const std::string wanted = name;
  for (int i = 2; !taken_.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
  return name;
}

void Columns::add(std::string name, ColumnType type) {
  columns_.push_back({free(std::move(name)), type});
}

void Columns::add(std::string name, std::shared_ptr<const Words> words) {
  columns_.push_back({free(std::move(name)), ColumnType::kText, std::move(words)});
}

ParameterColumns::ParameterColumns(const CallTree& tree) : tree_(tree) {
  for (const profile::ParameterSet& set : tree.parameter_sets) {
    for (const profile::ParameterValue& value : set) {
      const auto [found, fresh] = places_.try_emplace(value.name, all_.size());
      if (fresh) all_.push_back({value.name, true, nullptr});
      if (!whole_number(value)) all_[found->second].numeric = false;
    }
  }
  for (const profile::ParameterSet& set : tree.parameter_sets) {
    for (const profile::ParameterValue& value : set) {
      OfParameter& one = all_[places_.at(value.name)];
      if (one.numeric) continue;
      if (!one.words) one.words = std::make_shared<Words>();
      one.words->add(value.text);
    }
  }
}

void ParameterColumns::add_to(Columns& columns) const {
  for (const OfParameter& one : all_) {
    const std::string name = "parameter." + utf8(one.name);
    one.numeric ? columns.add(name, ColumnType::kInteger) : columns.add(name, one.words);
  }
}

void ParameterColumns::write(RowWriter& row, profile::ParameterSetId id) const {
  static const profile::ParameterSet kNone;
  const profile::ParameterSet& set = id.defined() ? tree_.parameter_sets[id.value()] : kNone;
  for (const OfParameter& one : all_) {
    const auto found = std::ranges::find(set, one.name, &profile::ParameterValue::name);
    if (found == set.end()) {
      row.none();
    } else if (one.numeric) {
      row.integer(*whole_number(*found));
    } else {
      row.text(one.words->add(found->text));
    }
  }
}

MetricColumns::MetricColumns(const CallTree& tree)
    : metrics_(tree.definitions.metrics),
      sampled_calls_(has_sampled_calls(tree.definitions)),
      used_(metrics_.size()) {
  // Sampled metrics have a column in every run that samples them.
  for (std::size_t i = 0; i < used_.size(); ++i) used_[i] = metrics_[i].sampled();
  for (const profile::LocationProfile& location : tree.locations) {
    for (const profile::MetricCell& cell : location.metrics) used_[cell.metric.value()] = true;
    for (const profile::SampleCell& cell : location.samples) used_[cell.metric.value()] = true;
  }
}

// Profiles of recorded calls have the sum of the samples of a call path, not their number.
bool MetricColumns::has_only_sum(std::size_t metric) const {
  return !sampled_calls_ && is_sampled_time(metrics_[metric]);
}

void MetricColumns::add_to(Columns& columns) const {
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (!used_[i]) continue;
    const Metric& metric = metrics_[i];
    const std::string name = "metric." + utf8(metric_name(metric));
    if (metric.sampled()) {
      columns.add(name, ColumnType::kInteger);
      continue;
    }
    if (has_only_sum(i)) {
      columns.add(name + ".sum", ColumnType::kReal);
      continue;
    }
    columns.add(name + ".count", ColumnType::kInteger);
    for (const char* what : {".sum", ".min", ".max"}) columns.add(name + what, ColumnType::kReal);
  }
}

void MetricColumns::begin_location(const profile::LocationProfile& location) {
  location_ = &location;
  counter_.clear();
  sample_.clear();
  for (std::uint32_t i = 0; i < metrics_.size(); ++i) {
    const MetricId id{i};
    counter_.push_back(first_of(location.metrics, id));
    sample_.push_back(first_of(location.samples, id));
  }
}

void MetricColumns::write(RowWriter& row, NodeId node) {
  for (std::uint32_t i = 0; i < metrics_.size(); ++i) {
    if (!used_[i]) continue;
    const MetricId id{i};
    if (metrics_[i].sampled()) {
      const auto* const cell = cell_at(location_->samples, sample_[i], id, node);
      cell == nullptr ? row.none() : row.integer(profile::signed_value(cell->value));
      continue;
    }
    const auto* const cell = cell_at(location_->metrics, counter_[i], id, node);
    if (has_only_sum(i)) {
      cell == nullptr ? row.none() : row.real(cell->statistics.sum);
      continue;
    }
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

}  // namespace timeloom::exchange
