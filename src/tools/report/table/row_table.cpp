#include "tools/report/table/row_table.hpp"

#include "exchange/format_text.hpp"
#include "tools/text/formatted.hpp"

namespace timeloom::tools {

using nlohmann::ordered_json;

ordered_json row_value(ordered_json value, Unit unit) {
  if (unit == Unit::kName && value == "") return nullptr;
  if (unit == Unit::kNanoseconds && !value.is_null()) return value.get<double>() * 1e-9;
  return value;
}

std::string row_cell(const ordered_json& value, Unit unit, const Terminal& terminal) {
  if (value.is_null()) return {};
  switch (unit) {
    case Unit::kText:
    case Unit::kName: return printable(value.get<std::string>());
    case Unit::kCount: return count(value.get<std::uint64_t>());
    case Unit::kShortCount: return short_count(value.get<std::int64_t>());
    case Unit::kFactor: return formatted("{:.2f}", value.get<double>());
    case Unit::kShare: return percent(value.get<double>());
    case Unit::kBytes: return bytes(value.get<std::uint64_t>());
    default: return duration(row_value(value, unit).get<double>(), terminal);
  }
}

std::string csv_line(const ordered_json& values) {
  std::string line;
  bool first = true;
  for (const ordered_json& value : values) {
    if (!first) line += ',';
    first = false;
    if (value.is_string()) exchange::append_csv(line, value.get<std::string>());
    if (value.is_boolean()) line += value.get<bool>() ? '1' : '0';
    if (value.is_number_float()) exchange::append_number(line, value.get<double>());
    if (value.is_number_integer()) line += value.dump();
  }
  return line + "\n";
}

}  // namespace timeloom::tools
