#include <algorithm>

#include "core/text/count_text.hpp"
#include "exchange/names.hpp"
#include "tools/report/imports/report_imports.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;

// "numpy.linalg" for the body of this module, else the name of the function.
std::string short_name_of(RegionId region, const Definitions& definitions) {
  constexpr std::string_view kBody = ".<module>";
  std::string name = exchange::region_name(definitions, region);
  if (name.ends_with(kBody)) name.resize(name.size() - kBody.size());
  return name;
}

std::string importer_name(const ImportRow& row, const Definitions& definitions) {
  return row.importer.defined() ? short_name_of(row.importer, definitions) : std::string();
}

}  // namespace

void write_imports(const ImportFacts& facts, const Definitions& definitions,
                   const Terminal& terminal, Output& output) {
  constexpr std::size_t kFixed = 6;  // the other lines, and the prompt of the shell
  const std::size_t most = terminal.height > kFixed ? terminal.height - kFixed : 1;
  const std::size_t shown = std::min(facts.rows.size(), most);
  output.write(formatted(
      "{} ({}) in the bodies of {} that were imported\n", duration(facts.all, terminal, " "),
      percent(facts.run > 0 ? facts.all / facts.run : 0), plural(facts.rows.size(), "module")));
  Table table(terminal, 2, "module, < by whom");
  for (const char* heading : {"own", "total", "processes"}) table.add_column(heading);
  for (std::size_t i = 0; i < shown; ++i) {
    const ImportRow& row = facts.rows[i];
    TableRow line;
    line.cells = {duration(row.own, terminal), duration(row.total, terminal), count(row.processes)};
    line.name = short_name_of(row.body, definitions);
    if (const std::string by = importer_name(row, definitions); !by.empty()) {
      line.name += "  < " + by;
    }
    line.name = printable(line.name);
    table.add_row(std::move(line));
  }
  table.write(output);
  if (shown < facts.rows.size()) {
    output.write(formatted("and {} more, in --json\n", count(facts.rows.size() - shown)));
  }
  output.write(
      "own: without the bodies of other modules, but with the time to find, load and\n"
      "link the modules that it imports. total: with their bodies.\n");
}

void write_imports_json(const ImportFacts& facts, const Definitions& definitions, Output& output) {
  ordered_json all = {{"format", "timeloom-report-imports"}, {"version", 1}};
  all["import_s"] = facts.all;
  all["run_s"] = facts.run;
  all["modules"] = ordered_json::array();
  for (const ImportRow& row : facts.rows) {
    const Region& body = definitions.regions[row.body.value()];
    const std::string by = importer_name(row, definitions);
    all["modules"].push_back({{"name", short_name_of(row.body, definitions)},
                              {"file", body.file},
                              {"own_s", row.own},
                              {"total_s", row.total},
                              {"processes", row.processes},
                              {"importer", by.empty() ? ordered_json() : ordered_json(by)},
                              {"importer_s", row.of_importer}});
  }
  all["losses"] = facts_of(definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
