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
  return relative(row.before.exclusive, row.after.exclusive);
}

std::string seconds_of(const DiffSide& side, const Terminal& terminal) {
  return side.there ? duration(side.exclusive, terminal) : "-";
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

Cells headings(const std::optional<DiffParts>& parts) {
  if (!parts) return {"change", "%", "before", "after", "visits"};
  return {"change",
          "before",
          "after",
          formatted("before/{}", parts->noun),
          formatted("after/{}", parts->noun),
          formatted("%/{}", parts->noun)};
}

double diff_mean(const DiffSide& side, std::uint64_t parts) {
  return side.exclusive / static_cast<double>(parts);
}

// Sums, and means where the runs have different numbers of parts.
Cells diff_cells(const DiffRow& row, const std::optional<DiffParts>& parts,
                 const Terminal& terminal) {
  const std::string change = signed_duration(row.difference(), terminal);
  const std::string before = seconds_of(row.before, terminal);
  const std::string after = seconds_of(row.after, terminal);
  if (!parts) return {change, change_of(row), before, after, visits_of(row, terminal)};
  const double mean_before = diff_mean(row.before, parts->before);
  const double mean_after = diff_mean(row.after, parts->after);
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
               terminal.paint("  by the change of their own time (excl)", Ink::kDim) + "\n\n");
  Table table(terminal, 1);
  for (std::string& heading : headings(runs.parts)) table.add_column(std::move(heading));
  for (const DiffRow& row : rows.rows) {
    TableRow line;
    line.cells = diff_cells(row, runs.parts, terminal);
    line.name = printable(row.node.defined() ? joined_path(diff, row.node) : row.name);
    line.place = diff_place(row);
    const double much = kMuch * longer(diff);
    line.ink = std::abs(row.difference()) >= much ? Ink::kBold : Ink::kPlain;
    table.add_row(std::move(line));
  }
  table.write(output);
  if (rows.hidden > 0) {
    output.write(terminal.paint(formatted("Not shown: {} that changed by less than {:g}% of the "
                                          "whole (--min-percent)\n",
                                          count(rows.hidden), options.min_percent),
                                Ink::kDim));
  }
}

ordered_json side_json(const DiffSide& side, std::uint64_t parts) {
  if (!side.there) return {};
  ordered_json one = {{"visits", side.visits},
                      {"given_up", side.at_least},
                      {"inclusive_s", side.inclusive},
                      {"exclusive_s", side.exclusive}};
  if (parts > 0) one["mean_exclusive_s"] = diff_mean(side, parts);
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
ordered_json diff_row_json(const DiffRow& row, std::int64_t path, const DiffParts& parts) {
  ordered_json one;
  one["name"] = row.name;
  if (path >= 0) one["path"] = path;
  one["file"] = row.file;
  one["line"] = row.line;
  one["change"] = change_name(row.change());
  one["before"] = side_json(row.before, parts.before);
  one["after"] = side_json(row.after, parts.after);
  one["exclusive_change_s"] = row.difference();
  one["exclusive_change_share"] = row.before.exclusive > 0
                                      ? ordered_json(row.difference() / row.before.exclusive)
                                      : ordered_json();
  one["inclusive_change_s"] = row.after.inclusive - row.before.inclusive;
  return one;
}

void write_json_rows(const char* key, const DiffRows& rows, const PathTable& paths,
                     const DiffRuns& runs, Output& output) {
  output.write(formatted(",\n\"{}\": {{\n  \"hidden\": {},\n  \"rows\": [", key, rows.hidden));
  const char* separator = "\n    ";
  for (const DiffRow& row : rows.rows) {
    if (output.closed()) return;
    const DiffParts parts = runs.parts.value_or(DiffParts{});
    output.write(separator + json_text(diff_row_json(row, paths.of(row.node), parts)));
    separator = ",\n    ";
  }
  output.write("\n  ]\n}");
}

}  // namespace

void write_diff(const Diff& diff, const DiffRuns& runs, const DiffTables& tables,
                const DiffRowOptions& options, const Terminal& terminal, Output& output) {
  output.write(formatted("before  {}  {}\nafter   {}  {}\n", duration(diff.before, terminal, " "),
                         printable(runs.before), duration(diff.after, terminal, " "),
                         printable(runs.after)));
  output.write(terminal.paint(
      formatted("change  {}  {}\n", signed_duration(diff.after - diff.before, terminal),
                relative(diff.before, diff.after)),
      Ink::kBold));
  if (runs.parts) {
    const auto& [noun, before, after] = *runs.parts;
    output.write(terminal.paint(
        formatted("! {} before, {} after: times are sums of all, those with /{} the mean of one\n",
                  plural(before, noun), count(after), noun),
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
}

void write_diff_json(const Diff& diff, const DiffRuns& runs, const DiffTables& tables,
                     const DiffRowOptions& options, Output& output) {
  ordered_json head;
  head["format"] = "timeloom-diff";
  head["version"] = 2;
  head["before"] = {{"run", runs.before}, {"total_s", diff.before}, {"losses", runs.losses_before}};
  head["after"] = {{"run", runs.after}, {"total_s", diff.after}, {"losses", runs.losses_after}};
  if (runs.parts) {
    head["parts"] = runs.parts->noun;
    head["before"]["parts"] = runs.parts->before;
    head["after"]["parts"] = runs.parts->after;
  }
  head["change_s"] = diff.after - diff.before;
  head["change_share"] =
      diff.before > 0 ? ordered_json(diff.after / diff.before - 1) : ordered_json();
  std::string text = json_text(head, 0);
  text.erase(text.rfind("\n}"));
  output.write(text);
  const DiffRows paths = tables.tree ? call_path_rows(diff, options) : DiffRows{};
  const PathTable table(diff, paths);
  if (tables.flat) write_json_rows("regions", region_rows(diff, options), table, runs, output);
  if (tables.tree) {
    table.write(output);
    write_json_rows("call_paths", paths, table, runs, output);
  }
  output.write("\n}\n");
}

}  // namespace timeloom::tools
