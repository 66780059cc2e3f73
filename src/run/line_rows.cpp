#include "run/line_rows.hpp"

#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "run/csv_file.hpp"

namespace timeloom::run {
namespace {

constexpr std::string_view kLineHeadings = "function,file,line,source line,samples,nanoseconds\n";
Error line_error(const std::string& problem) { return Error(problem + " [TL442]"); }
constexpr CsvFile<6> kLineFile(Item::kLines, kLineHeadings, line_error);

}  // namespace

std::string line_text(const std::vector<LineRow>& rows) {
  std::string text(kLineHeadings);
  for (const LineRow& row : rows) {
    text += csv_field(row.function) + "," + csv_field(row.file) + "," +
            std::to_string(row.first_line) + "," + std::to_string(row.source_line) + "," +
            std::to_string(row.samples) + "," + std::to_string(row.ns) + "\n";
  }
  return text;
}

std::vector<LineRow> parse_lines(const std::string& text) {
  return kLineFile.rows(text, [](auto& fields) {
    return LineRow{std::move(fields[0]),
                   std::move(fields[1]),
                   kLineFile.number<std::uint32_t>(fields[2]),
                   kLineFile.number<std::uint32_t>(fields[3]),
                   kLineFile.number<std::uint64_t>(fields[4]),
                   kLineFile.number<std::uint64_t>(fields[5])};
  });
}

std::vector<LineRow> read_line_rows(const std::filesystem::path& run) {
  return parse_lines(kLineFile.text(run));
}

}  // namespace timeloom::run
