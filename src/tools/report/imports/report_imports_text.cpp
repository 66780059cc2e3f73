#include <algorithm>

#include "core/text/count_text.hpp"
#include "exchange/names.hpp"
#include "tools/report/imports/report_imports.hpp"
#include "tools/report/table/row_table.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

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

RowTable<ImportRow> import_table(const Definitions& definitions) {
  const auto name = [&definitions](const ImportRow& row) {
    return short_name_of(row.body, definitions);
  };
  const auto file = [&definitions](const auto& row) {
    return definitions.regions[row.body.value()].file;
  };
  const auto importer = [&definitions](const auto& row) { return importer_name(row, definitions); };
  return {
      "module, < by whom",
      {{"name", Unit::kText, name},
       {"file", Unit::kText, file},
       {"own_s", Unit::kSeconds, &ImportRow::own, {1, "own"}},
       {"total_s", Unit::kSeconds, &ImportRow::total, {2, "total"}},
       {"processes", Unit::kCount, &ImportRow::processes, {3, "processes"}},
       {"importer", Unit::kName, importer},
       {"importer_s", Unit::kSeconds, &ImportRow::of_importer}},
      [&definitions](const ImportRow& row, const Terminal&) {
        const std::string by = importer_name(row, definitions);
        return printable(short_name_of(row.body, definitions) + (by.empty() ? "" : "  < " + by));
      }};
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
  import_table(definitions).write(std::span(facts.rows).first(shown), terminal, output);
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
  all["modules"] = import_table(definitions).json(facts.rows);
  all["losses"] = facts_of(definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
