#include "tools/diff/diff_memory.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "exchange/names.hpp"
#include "profile/diff_runs.hpp"
#include "tools/report/memory/report_memory.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;
using profile::CallTree;
using profile::DiffRange;
using profile::MetricStatistics;

// An amount in one run.
struct Amount {
  double value = 0;
  double error = 0;
};

// The amounts of one region, or of the whole, in each run of a side.
struct SideAmounts {
  std::vector<Amount> allocated, allocations, at_peak, at_end;
  explicit SideAmounts(std::size_t runs)
      : allocated(runs), allocations(runs), at_peak(runs), at_end(runs) {}
};

struct RegionAmounts {
  std::string name;
  std::string file;
  std::uint32_t line = 0;
  SideAmounts before, after;
};

Amount middle(std::vector<Amount> amounts) {
  const auto [less, more] = profile::middle_pair(std::move(amounts), &Amount::value);
  return {(less.value + more.value) / 2, std::max(less.error, more.error)};
}

DiffRange range_of_amounts(const std::vector<Amount>& amounts) {
  const auto [least, most] = std::ranges::minmax(amounts, {}, &Amount::value);
  return {least.value, most.value};
}

MemoryChange change_between(const std::vector<Amount>& before, const std::vector<Amount>& after) {
  const Amount first = middle(before), second = middle(after);
  return {first.value, second.value, range_of_amounts(before), range_of_amounts(after),
          std::hypot(first.error, second.error)};
}

Amount exact(double value) { return {value, 0}; }

// Sums of estimates have the root of the sum of the squares of their errors.
void add_sampled(Amount& sum, const MetricStatistics& amount, double interval) {
  sum.value += amount.sum;
  sum.error = std::hypot(sum.error,
                         sampling_error(static_cast<double>(amount.count), amount.min, interval));
}

class MemoryComparer {
 public:
  MemoryComparer(std::size_t before, std::size_t after)
      : runs_before_(before), runs_after_(after), before_(before), after_(after) {}

  // False: the run has no allocations.
  bool add(const CallTree& tree, bool after, std::size_t run) {
    const MemoryFacts facts = memory_facts(tree);
    if (!facts.any()) return false;
    SideAmounts& whole = after ? after_ : before_;
    (after ? peaks_after_ : peaks_before_).push_back(exact(static_cast<double>(facts.run.peak)));
    for (const MemoryFacts::Process& process : facts.processes) {
      whole.at_end[run].value += static_cast<double>(process.memory.at_end);
    }
    for (const MemoryRow& row : facts.rows) {
      if (is_measurement(row)) continue;
      whole.allocated[run].value += row.allocated.sum;
      RegionAmounts& region = region_of_row(tree, row);
      SideAmounts& side = after ? region.after : region.before;
      side.allocated[run].value += row.allocated.sum;
      side.allocations[run].value += static_cast<double>(row.allocated.count);
      add_sampled(side.at_peak[run], row.at_peak, facts.interval());
      add_sampled(side.at_end[run], row.at_end, facts.interval());
    }
    return true;
  }

  MemoryDiff take() const {
    MemoryDiff diff;
    diff.peak = change_between(peaks_before_, peaks_after_);
    diff.allocated = change_between(before_.allocated, after_.allocated);
    diff.at_end = change_between(before_.at_end, after_.at_end);
    for (const RegionAmounts& one : regions_) {
      MemoryDiffRow row{one.name,
                        one.file,
                        one.line,
                        change_between(one.before.allocated, one.after.allocated),
                        change_between(one.before.allocations, one.after.allocations),
                        change_between(one.before.at_peak, one.after.at_peak),
                        change_between(one.before.at_end, one.after.at_end)};
      if (row.changed())
        diff.rows.push_back(std::move(row));
      else if (row.differs())
        ++diff.uncertain;
    }
    std::ranges::stable_sort(diff.rows, std::ranges::greater(), largest_change);
    return diff;
  }

 private:
  // What the measurement itself needed is not the program's.
  static bool is_measurement(const MemoryRow& row) {
    return row.apart != nullptr && std::string_view(row.apart) == kOwnMemory;
  }

  static double largest_change(const MemoryDiffRow& row) {
    const auto size = [](const MemoryChange& one) {
      return one.counts() ? std::abs(one.difference()) : 0;
    };
    return std::max({size(row.at_peak), size(row.at_end), size(row.allocated)});
  }

  RegionAmounts& region_of_row(const CallTree& tree, const MemoryRow& row) {
    const RegionId id = row.node.defined() ? tree.nodes[row.node.value()].region : RegionId{};
    if (!id.defined()) {
      return named(row.apart != nullptr ? row.apart : "(deeper calls)", "", 0);
    }
    const Region& region = tree.definitions.regions[id.value()];
    return named(exchange::region_name(tree.definitions, id), region.file, region.first_line);
  }

  // As regions are compared otherwise: the same name, in a file of the same name.
  RegionAmounts& named(const std::string& name, const std::string& file, std::uint32_t line) {
    const std::string key = name + '\n' + file.substr(file.rfind('/') + 1);
    const auto [found, fresh] = numbers_.emplace(key, regions_.size());
    if (fresh) {
      regions_.push_back({name, file, line, SideAmounts(runs_before_), SideAmounts(runs_after_)});
    }
    RegionAmounts& region = regions_[found->second];
    region.file = file;
    region.line = line;
    return region;
  }

  std::size_t runs_before_, runs_after_;
  SideAmounts before_, after_;
  std::vector<Amount> peaks_before_, peaks_after_;
  std::vector<RegionAmounts> regions_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

std::string size_of(double amount) {
  return bytes(amount > 0 ? static_cast<std::uint64_t>(amount + 0.5) : 0);
}

std::string signed_size(const MemoryChange& change) {
  const double difference = change.difference();
  if (difference == 0) return "0";
  const std::string sign = difference < 0 ? "-" : "+";
  return (change.error > 0 ? "~" : "") + sign + size_of(std::abs(difference));
}

void write_whole(const char* name, const MemoryChange& change, Output& output) {
  std::string line = formatted("{}  {} > {}", name, size_of(change.before), size_of(change.after));
  if (change.before > 0 && change.counts()) {
    line += formatted("  {:+.1f}%", (change.after / change.before - 1) * 100);
  }
  if (!change.counts() && change.difference() != 0) line += "  within the spread of the runs";
  output.write(line + "\n");
}

std::string both_counts(const MemoryChange& change) {
  const std::string after = short_count(static_cast<std::int64_t>(change.after));
  if (change.difference() == 0) return after;
  return short_count(static_cast<std::int64_t>(change.before)) + ">" + after;
}

std::string change_cell(const MemoryChange& change) {
  return change.counts() ? signed_size(change) : "";
}

ordered_json change_json(const MemoryChange& change) {
  ordered_json one = {{"before", change.before}, {"after", change.after}};
  if (change.error > 0) one["error"] = change.error;
  one["changed"] = change.counts();
  return one;
}

}  // namespace

bool MemoryChange::counts() const {
  const bool apart = before_range.most < after_range.least || after_range.most < before_range.least;
  return apart && std::abs(difference()) > 2 * error;
}

bool MemoryDiffRow::differs() const {
  return allocated.difference() != 0 || at_peak.difference() != 0 || at_end.difference() != 0;
}

std::optional<MemoryDiff> compare_memory(std::span<const CallTree> before,
                                         std::span<const CallTree> after) {
  MemoryComparer comparer(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!comparer.add(before[i], false, i)) return std::nullopt;
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!comparer.add(after[i], true, i)) return std::nullopt;
  }
  return comparer.take();
}

void write_memory_diff(const MemoryDiff& diff, double min_percent, const Terminal& terminal,
                       Output& output) {
  output.write("\n" + terminal.paint("Memory", Ink::kAccent) +
               terminal.paint("  of a region itself, without what it calls", Ink::kDim) + "\n\n");
  write_whole("peak            ", diff.peak, output);
  write_whole("held at the end ", diff.at_end, output);
  write_whole("allocated       ", diff.allocated, output);
  const double peak = std::max(diff.peak.before, diff.peak.after) * min_percent / 100;
  const double sum = std::max(diff.allocated.before, diff.allocated.after) * min_percent / 100;
  const auto is_large = [](const MemoryChange& one, double least) {
    return one.counts() && std::abs(one.difference()) >= least;
  };
  Table table(terminal, 2);
  for (const char* heading : {"at the peak", "at the end", "allocated", "times"}) {
    table.add_column(heading);
  }
  std::uint64_t hidden = 0;
  for (const MemoryDiffRow& row : diff.rows) {
    if (!is_large(row.at_peak, peak) && !is_large(row.at_end, peak) &&
        !is_large(row.allocated, sum)) {
      ++hidden;
      continue;
    }
    TableRow line;
    line.cells = {change_cell(row.at_peak), change_cell(row.at_end), change_cell(row.allocated),
                  both_counts(row.allocations)};
    line.name = printable(row.name);
    if (row.line != 0) {
      line.place =
          printable(formatted("{}:{}", row.file.substr(row.file.rfind('/') + 1), row.line));
    }
    table.add_row(std::move(line));
  }
  if (hidden < diff.rows.size()) {
    output.write("\n");
    table.write(output);
  }
  if (hidden > 0) {
    output.write(terminal.paint(formatted("Not shown: {} that changed by less than {:g}% "
                                          "(--min-percent)\n",
                                          count(hidden), min_percent),
                                Ink::kDim));
  }
  if (diff.uncertain > 0) {
    output.write(terminal.paint(
        formatted("Not shown: {} whose change is within its error, or the spread of the runs\n",
                  count(diff.uncertain)),
        Ink::kDim));
  }
}

ordered_json memory_diff_json(const MemoryDiff& diff) {
  ordered_json rows = ordered_json::array();
  for (const MemoryDiffRow& row : diff.rows) {
    rows.push_back({{"name", row.name},
                    {"file", row.file},
                    {"line", row.line},
                    {"allocated_bytes", change_json(row.allocated)},
                    {"allocations", change_json(row.allocations)},
                    {"bytes_at_peak", change_json(row.at_peak)},
                    {"bytes_at_end", change_json(row.at_end)}});
  }
  return {{"peak_bytes", change_json(diff.peak)},
          {"end_bytes", change_json(diff.at_end)},
          {"allocated_bytes", change_json(diff.allocated)},
          {"regions", std::move(rows)}};
}

}  // namespace timeloom::tools
