#include "doors/omnitrace/format/omnitrace_metric_rows.hpp"

#include <algorithm>
#include <cmath>

namespace timeloom::omnitrace {

namespace {

// The value that can be added up over rows: of a share the time, not the percent.
std::size_t summed(const Metric& metric, std::size_t value) {
  return metric.measure == Measure::kShare ? 1 : value;
}

Visits scaled(const Visits& visits, double unit) {
  Visits result = visits;
  result.sum /= unit;
  result.min /= unit;
  result.max /= unit;
  result.squares /= static_cast<long double>(unit) * unit;
  return result;
}

}  // namespace

Unit unit_of(const Metric& metric, const ReportStyle& style) {
  switch (metric.kind) {
    case Kind::kTime: return style.time;
    case Kind::kMemory: return style.memory;
    case Kind::kPercent: return {"%", 1};
    case Kind::kTrips:
    case Kind::kCounter: return {"", 1};
  }
  return {};
}

double variance_of(const Visits& visits) noexcept {
  if (visits.count < 2) return 0;
  const auto count = static_cast<long double>(visits.count),
             sum = static_cast<long double>(visits.sum);
  return static_cast<double>((visits.squares - sum * sum / count) / (count - 1));
}

MetricRows::MetricRows(const Calls& calls, const Rows& rows, std::size_t metric,
                       const ReportStyle& style, bool collapsed)
    : calls_(calls),
      rows_(rows),
      metric_(metric),
      collapsed_(collapsed),
      unit_(unit_of(*calls.metrics[metric], style).value) {
  for (std::size_t i = 0; i < metric; ++i) first_value_ += values_of(*calls.metrics[i]);
  if (rows.thread_count > 9) digits_ = std::to_string(rows.thread_count).size();
  const std::size_t values = values_of(*calls.metrics[metric]);
  below_.resize(rows.rows.size() * values);
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    const std::uint32_t parent = rows.rows[row].parent;
    if (parent == kNone) continue;
    for (std::size_t v = 0; v < values; ++v) {
      below_[parent * values + v].sum += stored(row, v).sum;
      below_[parent * values + v].squares += stored(row, v).squares;
    }
  }
}

const Visits& MetricRows::stored(std::size_t row, std::size_t value) const {
  return rows_.values[row * calls_.values + first_value_ + value];
}

// Levels of calls.
constexpr std::size_t kMostIndented = 256;

std::string MetricRows::prefix(std::size_t row) const {
  const Row& one = rows_.rows[row];
  std::string text;
  if (!collapsed_) {
    const std::string thread = std::to_string(one.thread);
    text = "|" + std::string(digits_ - std::min(digits_, thread.size()), '0') + thread;
  }
  text += ">>> ";
  // Deeper rows have their depth in a column: their indentation would grow with its square.
  const std::size_t levels = std::min<std::size_t>(one.depth, kMostIndented);
  if (levels > 0) text += std::string(2 * (levels - 1), ' ') + "|_";
  return text + label(row);
}

Visits MetricRows::visits(std::size_t row, std::size_t value) const {
  if (metric().measure == Measure::kNothing) return {};
  return scaled(stored(row, value), unit_);
}

double MetricRows::raw(std::size_t row, std::size_t value) const {
  switch (metric().measure) {
    case Measure::kNothing: return static_cast<double>(rows_.rows[row].count);
    case Measure::kShare: return total(row, value);
    default: return stored(row, value).sum;
  }
}

double MetricRows::raw_of_roots(std::size_t value) const {
  double sum = 0;
  for (std::size_t row = 0; row < rows_.rows.size(); ++row) {
    if (rows_.rows[row].parent == kNone) sum += raw(row, value);
  }
  return sum;
}

double MetricRows::total(std::size_t row, std::size_t value) const {
  if (metric().measure != Measure::kShare) return raw(row, value) / unit_;
  const double wall = stored(row, 2).sum;
  return wall > 0 ? 100 * stored(row, 1).sum / wall : 0;
}

Visits MetricRows::exclusive(std::size_t row, std::size_t value) const {
  Visits own = visits(row, value);
  if (own.count == 0) return own;
  const Visits below = scaled(below_[row * values_of(metric()) + value], unit_);
  own.sum -= below.sum;
  own.squares -= below.squares;
  return own;
}

double MetricRows::exclusive_total(std::size_t row, std::size_t value) const {
  switch (metric().measure) {
    case Measure::kNothing: return total(row, value);
    case Measure::kShare: return total(row, value) * self(row, value) / 100;
    default: return exclusive(row, value).sum;
  }
}

double MetricRows::self(std::size_t row, std::size_t value) const {
  if (metric().measure == Measure::kNothing) return 0;
  const std::size_t v = summed(metric(), value);
  const double sum = stored(row, v).sum;
  if (sum <= 0) return 0;
  return std::max(0.0, 100 * (1 - below_[row * values_of(metric()) + v].sum / sum));
}

TextRow MetricRows::text_row(std::size_t row) const {
  const Row& one_row = rows_.rows[row];
  TextRow text{prefix(row), static_cast<std::int64_t>(one_row.count), one_row.depth, {}};
  for (std::size_t value = 0; value < metric().values(); ++value) {
    const Visits one = visits(row, value);
    Numbers& numbers = text.values[value];
    numbers.sum = total(row, value);
    numbers.mean = one.count == 0 ? 0 : one.sum / static_cast<double>(one.count);
    numbers.min = one.min;
    numbers.max = one.max;
    numbers.variance = variance_of(one);
    numbers.deviation = std::sqrt(std::abs(numbers.variance));
    numbers.self = self(row, value);
  }
  return text;
}

TextForm text_form(const Metric& metric, const ReportStyle& style) {
  TextForm form;
  form.description = metric.description;
  for (std::size_t i = 0; i < metric.values(); ++i) form.metrics.emplace_back(metric.cell(i));
  const std::string unit = unit_of(metric, style).name;
  if (!unit.empty()) form.units.assign(metric.values(), unit);
  form.max_width = style.max_width;
  form.separator_freq = style.separator_freq;
  const NumberStyle numbers = metric.kind == Kind::kTime     ? style.of_times
                              : metric.kind == Kind::kMemory ? style.of_memory
                                                             : style.of_others;
  form.number_width = numbers.width;
  form.scientific = numbers.scientific;
  form.precision = form.mean_precision = numbers.precision < 0 ? 1 : numbers.precision;
  switch (metric.kind) {
    case Kind::kTrips:
      form.columns = Columns::kSumOnly;
      form.precision = 0;
      form.scientific = false;
      break;
    case Kind::kPercent: form.least_width = 6; break;
    case Kind::kCounter:
      form.least_width = 3;
      form.precision = 0;
      form.scientific = false;
      break;
    case Kind::kTime:
    case Kind::kMemory: break;
  }
  if (metric.measure == Measure::kBothEnds) form.columns = Columns::kNoSum;
  return form;
}

}  // namespace timeloom::omnitrace
