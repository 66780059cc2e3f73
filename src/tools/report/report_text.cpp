#include "tools/report/report_text.hpp"

#include <cmath>

#include "core/samples/sampled_time.hpp"
#include "tools/report/report_compensation.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"
#include "tools/text/tree_glyphs.hpp"

namespace timeloom::tools {

namespace {

constexpr std::size_t kNarrow = 100;  // below: short headings, one blank between columns
constexpr std::size_t kWide = 116;    // from here on the tree has all columns
constexpr double kHot = 0.1;          // share from which a row stands out

// The columns of both tables, with the width they need at least to be shown.
struct Heading {
  std::string_view name;
  std::size_t from_width;
  std::string (*cell)(const Figures&, const Terminal&);
};

std::string inclusive(const Figures& one, const Terminal& t) {
  return marked(duration(one.inclusive, t), one.total_estimate);
}
std::string exclusive(const Figures& one, const Terminal& t) {
  return marked(duration(one.exclusive, t), one.own_estimate);
}
std::string visits(const Figures& one, const Terminal& t) {
  return visits_text(one.visits, one.at_least, t);
}
std::string if_known(double seconds, const Terminal& t) {
  return std::isnan(seconds) ? "-" : duration(seconds, t);
}
std::string mean_visit(const Figures& one, const Terminal& t) { return if_known(one.mean, t); }
std::string min(const Figures& one, const Terminal& t) { return if_known(one.min, t); }
std::string max(const Figures& one, const Terminal& t) { return if_known(one.max, t); }
std::string inclusive_share(const Figures& one, const Terminal&) {
  return percent(one.inclusive_share);
}
std::string exclusive_share(const Figures& one, const Terminal&) {
  return percent(one.exclusive_share);
}

constexpr Heading kTreeColumns[] = {{"share", 0, inclusive_share},
                                    {"incl", 0, inclusive},
                                    {"excl", 56, exclusive},
                                    {"visits", 64, visits},
                                    {"mean", 76, mean_visit},
                                    {"min", kWide, min},
                                    {"max", kWide, max}};

constexpr Heading kFlatColumns[] = {{"share", 0, exclusive_share},
                                    {"excl", 0, exclusive},
                                    {"incl", 56, inclusive},
                                    {"visits", 64, visits},
                                    {"mean", 72, mean_visit},
                                    {"min", 76, min},
                                    {"max", 80, max}};

Ink ink_of(double share) { return share >= kHot ? Ink::kBold : Ink::kPlain; }

// The file with its innermost directory, which tells one __init__.py from another.
std::string region_place(const Region& region) {
  std::string_view file = region.file;
  const std::size_t name = file.rfind('/');
  if (name != std::string_view::npos && name > 0) file.remove_prefix(file.rfind('/', name - 1) + 1);
  if (file.empty() || region.first_line == 0) return printable(file);
  return printable(formatted("{}:{}", file, region.first_line));
}

template <std::size_t kCount>
Table make_table(const Heading (&columns)[kCount], const ReportData& data,
                 const Terminal& terminal) {
  Table table(terminal, terminal.width < kNarrow ? 1 : 2);
  for (const Heading& column : columns) {
    const bool visits = column.name == "visits";
    const std::string_view name = visits ? visits_word(data.definitions()) : column.name;
    if (terminal.width >= column.from_width) table.add_column(std::string(name));
  }
  if (data.cost()) {
    table.add_column("incl*");
    table.add_column("excl*");
  }
  if (data.metric() != nullptr) {
    table.add_column(data.metric()->name() + " incl");
    table.add_column("excl");
  }
  return table;
}

template <std::size_t kCount>
void add_row(Table& table, const Heading (&columns)[kCount], const Row& row, double share,
             const std::string& glyphs, const std::string& name, const ReportData& data,
             const Terminal& terminal, const std::string& place) {
  TableRow line;
  for (const Heading& column : columns) {
    if (terminal.width >= column.from_width)
      line.cells.push_back(column.cell(row.figures, terminal));
  }
  if (data.cost()) {
    line.cells.push_back(duration(row.figures.compensated_inclusive, terminal));
    line.cells.push_back(duration(row.figures.compensated_exclusive, terminal));
  }
  if (const MetricColumns* metric = data.metric()) {
    line.cells.push_back(metric->text(row.metric.inclusive, terminal));
    line.cells.push_back(metric->text(row.metric.exclusive, terminal));
  }
  line.ink = ink_of(share);
  line.glyphs = glyphs;
  line.name = name;
  line.place = place;
  table.add_row(std::move(line));
}

bool imports(const Row& row, const ReportData& data) {
  return data.region(row.region).file.starts_with("<frozen importlib");
}

// A recursion of many levels, or the levels of Python's import system, are one
// line as long as nothing else happens in them.
bool is_more_of_the_same(const Row& row, const Row& below, const ReportData& data) {
  return below.only_child && ((below.region == row.region && below.parameters == row.parameters) ||
                              (imports(row, data) && imports(below, data)));
}

void write_title(const std::string& title, const ReportData& data, const std::string& scope,
                 const Terminal& terminal, Output& output) {
  const std::string total =
      formatted("  100% = {} in {}", duration(data.total_seconds(), terminal, " "), scope);
  output.write("\n" + terminal.paint(title, Ink::kAccent) + terminal.paint(total, Ink::kDim) +
               "\n\n");
}

void write_hidden(const Hidden& hidden, const RowOptions& options, std::string_view noun,
                  const Terminal& terminal, Output& output) {
  if (hidden.small > 0) {
    output.write(terminal.paint(formatted("Not shown: {} below {:g}%, {} in all (--min-percent)\n",
                                          plural(hidden.small, noun), options.min_percent,
                                          duration(hidden.small_seconds, terminal, " ")),
                                Ink::kDim));
  }
  if (hidden.deep > 0) {
    output.write(terminal.paint(formatted("Not shown: {} below level {} (--depth)\n",
                                          plural(hidden.deep, noun), options.depth),
                                Ink::kDim));
  }
}

}  // namespace

void write_headline(const RunFacts& facts, const std::string& run, const Terminal& terminal,
                    Output& output) {
  const std::string program = printable(facts.program.empty() ? run : facts.program);
  output.write(terminal.paint(shorten_right(program, terminal.width, terminal), Ink::kBold) + "\n");
  std::vector<std::string> parts = {
      duration(facts.wall_seconds, terminal, " ") + " wall time",
      in_processes(threads_and_tasks(facts.threads, facts.tasks, facts.task_lanes), facts)};
  if (!facts.engine.empty()) parts.push_back(printable(facts.engine));
  // A profile of another tool does not contain the number of events that it was made of.
  if (!facts.samples.empty()) {
    parts.push_back(facts.samples);
  } else if (facts.events > 0) {
    parts.push_back(plural(facts.events, "event"));
  }
  if (!facts.gpu.empty()) parts.push_back(facts.gpu);
  if (std::string memory = memory_text(facts); !memory.empty()) parts.push_back(std::move(memory));
  if (facts.start) parts.push_back(local_time(*facts.start));
  if (!facts.host.empty()) parts.push_back(printable(facts.host));
  std::string line;
  for (const std::string& part : parts) {
    const std::string longer =
        line.empty() ? part : formatted("{}{}{}", line, terminal.dot(), part);
    if (columns(longer) > terminal.width) {
      output.write(line + "\n");
      line = part;
    } else {
      line = longer;
    }
  }
  output.write(line + "\n");
  write_other_cpu(facts, terminal, output);
  write_losses(facts.losses, terminal, output);
}

void write_other_cpu(const RunFacts& facts, const Terminal& terminal, Output& output) {
  for (const std::string& text : other_cpu_lines(facts, terminal)) {
    output.write(terminal.paint("+ " + text, Ink::kWarning) + "\n");
  }
}

void write_losses(const std::vector<std::string>& losses, const Terminal& terminal,
                  Output& output) {
  for (const std::string& loss : losses) {
    output.write(terminal.paint("! " + printable(loss), Ink::kWarning) + "\n");
  }
}

void write_tree(const ReportData& data, const RowOptions& options, const std::string& scope,
                const Terminal& terminal, Output& output) {
  const Rows rows = data.tree_rows(options);
  write_title("Call tree", data, scope, terminal, output);
  Table table = make_table(kTreeColumns, data, terminal);
  TreeGlyphs glyphs(terminal.unicode);
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const Row& row = rows.rows[i];
    std::string name = printable(data.row_name(row));
    const std::string mark = glyphs.next(row.depth, row.only_child, row.last_child);
    std::size_t levels = 1;
    while (i + 1 < rows.rows.size() && is_more_of_the_same(row, rows.rows[i + 1], data)) {
      ++i, ++levels;
      glyphs.next(rows.rows[i].depth, true, true);
    }
    std::string place = region_place(data.region(row.region));
    if (levels > 1 && imports(row, data)) {  // several functions, none of which matters
      name = "import";
      place.clear();
    }
    if (levels > 1) name += formatted(" ({} levels)", count(levels));
    add_row(table, kTreeColumns, row, row.figures.inclusive_share, mark, name, data, terminal,
            place);
  }
  table.write(output);
  write_hidden(rows.hidden, options, "call path", terminal, output);
}

void write_flat(const ReportData& data, const RowOptions& options, const std::string& scope,
                const Terminal& terminal, Output& output) {
  const Rows rows = data.flat_rows(options);
  write_title("Flat profile", data, scope, terminal, output);
  Table table = make_table(kFlatColumns, data, terminal);
  for (const Row& row : rows.rows) {
    add_row(table, kFlatColumns, row, row.figures.exclusive_share, "",
            printable(data.region_name(row.region)), data, terminal,
            region_place(data.region(row.region)));
  }
  table.write(output);
  write_hidden(rows.hidden, options, "region", terminal, output);
}

void write_metric(const ReportData& data, const Terminal& terminal, Output& output) {
  const MetricColumns& metric = *data.metric();
  std::string line =
      formatted("\n{}: {} in all", metric.name(), metric.text(metric.total(), terminal));
  if (metric.outside() != 0) {
    line += formatted(", {} outside all regions", metric.text(metric.outside(), terminal));
  }
  output.write(line + "\n");
}

void write_legend(bool tree, bool estimated, const std::optional<CallCost>& cost,
                  const Terminal& terminal, Output& output) {
  std::string text =
      "\nincl: from entering a region to leaving it, excl: without the regions entered inside.\n";
  if (terminal.width < columns(text))
    text = "\nincl: with the regions entered inside, excl: without them.\n";
  if (cost) text += compensation_text(*cost) + "\n";
  if (estimated) text += "~: estimated from samples; the errors are in --json and --csv.\n";
  if (tree) text += "A line without a branch sign is called by the line above it.\n";
  output.write(terminal.paint(text, Ink::kDim));
}

}  // namespace timeloom::tools
