#include "tools/diff/diff_text.hpp"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "tools/report/report_text.hpp"
#include "tools/run/json_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"

namespace timeloom::tools {

using nlohmann::ordered_json;
using profile::Diff;
using profile::DiffSide;
using profile::NodeId;

namespace {

constexpr double kMuch = 0.1;  // of the longer run: a row stands out

std::string signed_duration(double seconds, const Terminal& terminal) {
  if (seconds == 0) return "0";
  return (seconds < 0 ? "-" : "+") + duration(std::abs(seconds), terminal);
}

std::string relative(double before, double after) {
  if (before == 0) return after == 0 ? "0%" : "-";
  return formatted("{:+.1f}%", (after - before) / std::abs(before) * 100);
}

std::string change_of(const DiffRow& row) {
  const Change change = row.change();
  if (change == Change::kNew || change == Change::kGone) return std::string(change_name(change));
  return relative(row.own_before, row.own_after);
}

std::string seconds_of(const DiffSide& side, double own, const Terminal& terminal) {
  return side.there ? duration(own, terminal) : "-";
}

// Half of the distance between the lowest and the highest run of the side that differs more.
double spread_of(const DiffRow& row) {
  const auto half = [](const profile::DiffRange& one) { return (one.most - one.least) / 2; };
  return std::max(half(row.before.working_range), half(row.after.working_range));
}

std::string visits_of(const DiffRow& row, const Terminal& terminal) {
  const DiffSide& before = row.before;
  const DiffSide& after = row.after;
  const std::string text = visits_text(after.visits, after.at_least, terminal);
  if (before.visits == after.visits && before.at_least == after.at_least) return text;
  const std::string_view between = before.at_least || after.at_least ? " > " : ">";
  return formatted("{}{}{}", visits_text(before.visits, before.at_least, terminal), between, text);
}

// Of a call path the end, which no line is too short for.
std::string joined_path(const Diff& diff, NodeId node) {
  constexpr std::size_t kMost = 256;
  const std::vector<std::string> path = path_of(diff, node, kMost + 1);
  std::string text = path.size() > kMost ? "..." : "";
  for (std::size_t i = path.size() > kMost ? 1 : 0; i < path.size(); ++i) {
    text += (text.empty() ? "" : " > ") + path[i];
  }
  return text;
}

std::string diff_place(const DiffRow& row) {
  if (row.file.empty() || row.line == 0) return printable(row.file);
  return printable(formatted("{}:{}", row.file.substr(row.file.rfind('/') + 1), row.line));
}

using Cells = std::vector<std::string>;

// The columns of a table.
struct DiffColumns {
  std::optional<DiffParts> parts;
  bool by_work = false;
  bool waiting = false;  // the change of waiting
  bool spread = false;   // a side has several runs
  const char* visits = "visits";
};

Cells headings(const DiffColumns& columns) {
  const std::optional<DiffParts>& parts = columns.parts;
  if (!parts) {
    Cells cells = {"change", "%", "before", "after"};
    if (columns.spread) cells.emplace_back("spread");
    if (columns.waiting) cells.emplace_back("waiting");
    cells.emplace_back(columns.visits);
    return cells;
  }
  return {"change",
          "before",
          "after",
          formatted("before/{}", parts->noun),
          formatted("after/{}", parts->noun),
          formatted("%/{}", parts->noun)};
}

double diff_mean(double own, std::uint64_t parts) { return own / static_cast<double>(parts); }

// Sums, and means where the runs have different numbers of parts.
Cells diff_cells(const DiffRow& row, const DiffColumns& columns, const Terminal& terminal) {
  const std::optional<DiffParts>& parts = columns.parts;
  const std::string change = signed_duration(row.difference(), terminal);
  const std::string before = seconds_of(row.before, row.own_before, terminal);
  const std::string after = seconds_of(row.after, row.own_after, terminal);
  if (!parts) {
    Cells cells = {change, change_of(row), before, after};
    if (columns.spread) cells.push_back(duration(spread_of(row), terminal));
    if (columns.waiting) {
      cells.push_back(signed_duration(row.after.waiting - row.before.waiting, terminal));
    }
    cells.push_back(visits_of(row, terminal));
    return cells;
  }
  const double mean_before = diff_mean(row.own_before, parts->before);
  const double mean_after = diff_mean(row.own_after, parts->after);
  const bool both = row.before.there && row.after.there;
  return {change,
          before,
          after,
          row.before.there ? duration(mean_before, terminal) : "-",
          row.after.there ? duration(mean_after, terminal) : "-",
          both ? relative(mean_before, mean_after) : change_of(row)};
}

void write_table(const char* title, const DiffRows& rows, const Diff& diff, const DiffRuns& runs,
                 const DiffRowOptions& options, const Terminal& terminal, Output& output) {
  output.write("\n" + terminal.paint(title, Ink::kAccent) +
               terminal.paint(options.by_work ? "  by the change of their own work"
                                              : "  by the change of their own time (excl)",
                              Ink::kDim) +
               "\n\n");
  const DiffColumns columns{runs.parts, options.by_work, options.by_work && !diff.sampled(),
                            options.by_work && runs.before.size() + runs.after.size() > 2,
                            diff.sampled() ? "samples" : "visits"};
  Table table(terminal, 1);
  for (std::string& heading : headings(columns)) table.add_column(std::move(heading));
  for (const DiffRow& row : rows.rows) {
    TableRow line;
    line.cells = diff_cells(row, columns, terminal);
    line.name = printable(row.node.defined() ? joined_path(diff, row.node) : row.name);
    line.place = diff_place(row);
    const double much = kMuch * longer(diff, options.by_work);
    line.ink = std::abs(row.difference()) >= much ? Ink::kBold : Ink::kPlain;
    table.add_row(std::move(line));
  }
  if (!rows.rows.empty()) table.write(output);
  if (rows.hidden > 0) {
    output.write(terminal.paint(formatted("Not shown: {} that changed by less than {:g}% of the "
                                          "whole (--min-percent)\n",
                                          count(rows.hidden), options.min_percent),
                                Ink::kDim));
  }
  if (rows.within_spread > 0) {
    output.write(terminal.paint(formatted("Not shown: {} by as much as runs of one side differ\n",
                                          count(rows.within_spread)),
                                Ink::kDim));
  }
  if (rows.within_error > 0) {
    output.write(terminal.paint(
        formatted("Not shown: {} within the error of their samples\n", count(rows.within_error)),
        Ink::kDim));
  }
}

void write_side(const char* name, const profile::DiffTotals& side,
                const std::vector<std::string>& runs, bool by_work, const Terminal& terminal,
                Output& output) {
  std::string line =
      formatted("{}  {}", name, duration(by_work ? side.working : side.all, terminal, " "));
  if (side.sample > 0) {
    line += " of CPU time";
  } else if (by_work) {
    line += formatted(" of work in {}", duration(side.all, terminal, " "));
  }
  line += "  " + printable(runs.front());
  if (runs.size() > 1) line += formatted(" and {}, median", plural(runs.size() - 1, "other"));
  output.write(line + "\n");
}

// The factors by which the machine was slower in some runs than in others.
void write_factors(const Diff& diff, const Terminal& terminal, Output& output) {
  std::vector<double> factors = diff.before.factors;
  factors.insert(factors.end(), diff.after.factors.begin(), diff.after.factors.end());
  if (factors.empty()) return;
  const auto [least, most] = std::ranges::minmax(factors);
  output.write(terminal.paint(
      formatted("work below is divided by what all regions of a run share: {:.2f} to {:.2f}\n",
                least, most),
      Ink::kDim));
}

ordered_json side_json(const DiffSide& side, const DiffColumns& columns, std::uint64_t parts) {
  if (!side.there) return {};
  ordered_json one = {{columns.visits, side.visits},
                      {"given_up", side.at_least},
                      {"inclusive_s", side.inclusive},
                      {"exclusive_s", side.exclusive}};
  if (parts > 0) one["mean_exclusive_s"] = diff_mean(side.exclusive, parts);
  if (!columns.by_work) return one;
  one["working_s"] = side.working;
  one["waiting_s"] = side.waiting;
  one["inclusive_working_s"] = side.inclusive_working;
  if (columns.spread) {
    one["working_range_s"] = {side.working_range.least, side.working_range.most};
  }
  return one;
}

// The call paths of rows, and those above them: each once, with the number of the one above.
class PathTable {
 public:
  PathTable(const Diff& diff, const DiffRows& rows) : diff_(diff), numbers_(diff.nodes.size()) {
    for (const DiffRow& row : rows.rows) {
      for (NodeId node = row.node; node.defined() && !std::exchange(wanted(node), true);) {
        node = diff.nodes[node.value()].parent;
      }
    }
    std::int64_t next = 0;
    for (Number& one : numbers_) one.number = one.wanted ? next++ : -1;
  }

  std::int64_t of(NodeId node) const { return node.defined() ? numbers_[node.value()].number : -1; }

  void write(Output& output) const {
    output.write(",\n\"paths\": [");
    const char* separator = "\n    ";
    for (std::size_t i = 0; i < numbers_.size() && !output.closed(); ++i) {
      if (!numbers_[i].wanted) continue;
      const NodeId node{static_cast<std::uint32_t>(i)};
      output.write(separator + json_text(ordered_json::array(
                                   {of(diff_.nodes[i].parent), name_of_node(diff_, node)})));
      separator = ",\n    ";
    }
    output.write("\n]");
  }

 private:
  struct Number {
    std::int64_t number = -1;
    bool wanted = false;
  };
  bool& wanted(NodeId node) { return numbers_[node.value()].wanted; }

  const Diff& diff_;
  std::vector<Number> numbers_;  // by node
};

// `path`: its number; -1: it is a region.
ordered_json diff_row_json(const Diff& diff, const DiffRow& row, std::int64_t path,
                           const DiffColumns& columns) {
  const DiffParts parts = columns.parts.value_or(DiffParts{});
  ordered_json one;
  one["name"] = row.name;
  if (path >= 0) one["path"] = path;
  one["file"] = row.file;
  one["line"] = row.line;
  one["change"] = change_name(row.change());
  one["before"] = side_json(row.before, columns, parts.before);
  one["after"] = side_json(row.after, columns, parts.after);
  const double change = row.after.exclusive - row.before.exclusive;
  one["exclusive_change_s"] = change;
  one["exclusive_change_share"] =
      row.before.exclusive > 0 ? ordered_json(change / row.before.exclusive) : ordered_json();
  if (columns.by_work) one["working_change_s"] = row.difference();
  if (diff.sampled()) {
    one["change_error_s"] = profile::sampling_error(diff, row.own_before, row.own_after);
  }
  one["inclusive_change_s"] = row.after.inclusive - row.before.inclusive;
  return one;
}

void write_json_rows(const char* key, const Diff& diff, const DiffRows& rows,
                     const PathTable& paths, const DiffColumns& columns, Output& output) {
  output.write(formatted(",\n\"{}\": {{\n  \"hidden\": {},\n  \"rows\": [", key, rows.hidden));
  const char* separator = "\n    ";
  for (const DiffRow& row : rows.rows) {
    if (output.closed()) return;
    output.write(separator + json_text(diff_row_json(diff, row, paths.of(row.node), columns)));
    separator = ",\n    ";
  }
  output.write("\n  ]\n}");
}

ordered_json totals_json(const profile::DiffTotals& side, const std::vector<std::string>& runs,
                         const std::vector<std::string>& losses, bool by_work) {
  ordered_json one = {{"run", runs.front()}, {"total_s", side.all}, {"losses", losses}};
  if (runs.size() > 1) one["runs"] = runs;
  if (by_work) one["working_s"] = side.working;
  if (!side.factors.empty()) one["factors"] = side.factors;
  return one;
}

}  // namespace

CiReport ci_report_of(const std::vector<Compared>& compared, const DiffRuns& runs,
                      DiffCertainty certain) {
  CiReport report{"timeloom diff", runs.before.front() + " > " + runs.after.front(), {}, {}};
  for (const std::string& loss : runs.losses_before) report.losses.push_back("before: " + loss);
  for (const std::string& loss : runs.losses_after) report.losses.push_back("after: " + loss);
  for (const Compared& one : compared) {
    const CiOutcome outcome = !certain.of(one.too_slow) ? CiOutcome::kUndecided
                              : one.too_slow            ? CiOutcome::kFail
                                                        : CiOutcome::kPass;
    report.results.push_back(
        {one.name.empty() ? "the whole" : one.name, outcome, one.text(), one.file, one.line});
  }
  return report;
}

void write_diff(const Diff& diff, const DiffRuns& runs, const DiffTables& tables,
                const DiffRowOptions& options, const Terminal& terminal, Output& output) {
  const bool by_work = options.by_work;
  write_side("before", diff.before, runs.before, by_work, terminal, output);
  write_side("after ", diff.after, runs.after, by_work, terminal, output);
  const double before = by_work ? diff.before.working : diff.before.all;
  const double after = by_work ? diff.after.working : diff.after.all;
  output.write(
      terminal.paint(formatted("change  {}  {}{}\n", signed_duration(after - before, terminal),
                               relative(before, after), by_work ? " of work" : ""),
                     Ink::kBold));
  if (by_work) write_factors(diff, terminal, output);
  if (runs.parts) {
    const auto& [noun, parts_before, parts_after] = *runs.parts;
    output.write(terminal.paint(
        formatted("! {} before, {} after: times are sums of all, those with /{} the mean of one\n",
                  plural(parts_before, noun), count(parts_after), noun),
        Ink::kWarning));
  }
  if (const std::string names = not_timed(diff); !names.empty()) {
    output.write(terminal.paint(
        "! not timed to the end (--overhead), later time is their callers': " + printable(names) +
            "\n",
        Ink::kWarning));
  }
  for (const std::string& loss : runs.losses_before) {
    write_losses({"before: " + loss}, terminal, output);
  }
  for (const std::string& loss : runs.losses_after) {
    write_losses({"after: " + loss}, terminal, output);
  }
  if (tables.flat) {
    write_table("Regions", region_rows(diff, options), diff, runs, options, terminal, output);
  }
  if (tables.tree) {
    write_table("Call paths", call_path_rows(diff, options), diff, runs, options, terminal, output);
  }
  if (tables.memory) write_memory_diff(*tables.memory, options.min_percent, terminal, output);
}

void write_diff_json(const Diff& diff, const DiffRuns& runs, const DiffTables& tables,
                     const DiffRowOptions& options, Output& output) {
  ordered_json head;
  head["format"] = "timeloom-diff";
  head["version"] = 2;
  head["before"] = totals_json(diff.before, runs.before, runs.losses_before, options.by_work);
  head["after"] = totals_json(diff.after, runs.after, runs.losses_after, options.by_work);
  if (runs.parts) {
    head["parts"] = runs.parts->noun;
    head["before"]["parts"] = runs.parts->before;
    head["after"]["parts"] = runs.parts->after;
  }
  head["by"] = options.by_work ? "work" : "time";
  head["change_s"] = diff.after.all - diff.before.all;
  head["change_share"] =
      diff.before.all > 0 ? ordered_json(diff.after.all / diff.before.all - 1) : ordered_json();
  const DiffColumns columns{runs.parts, options.by_work, options.by_work,
                            runs.before.size() + runs.after.size() > 2,
                            diff.sampled() ? "samples" : "visits"};
  std::string text = json_text(head, 0);
  text.erase(text.rfind("\n}"));
  output.write(text);
  const DiffRows paths = tables.tree ? call_path_rows(diff, options) : DiffRows{};
  const PathTable table(diff, paths);
  if (tables.flat)
    write_json_rows("regions", diff, region_rows(diff, options), table, columns, output);
  if (tables.tree) {
    table.write(output);
    write_json_rows("call_paths", diff, paths, table, columns, output);
  }
  if (tables.memory) {
    output.write(",\n\"memory\": " + json_text(memory_diff_json(*tables.memory)));
  }
  output.write("\n}\n");
}

}  // namespace timeloom::tools
