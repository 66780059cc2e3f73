#include "run/line_rows.hpp"

#include <array>
#include <cstring>
#include <string_view>

#include "core/error.hpp"
#include "os/read_file.hpp"
#include "run/contents.hpp"
#include "run/csv_fields.hpp"

namespace timeloom::run {
namespace {

constexpr std::string_view kLineHeadings = "function,file,line,source line,samples,nanoseconds\n";

[[noreturn]] void refuse_lines() {
  throw Error(
      "lines.csv is damaged or of another version; weave the run again, or remove the file "
      "[TL442]");
}

template <typename Number>
Number line_number_in(const std::string& text) {
  const auto number = number_of_field<Number>(text);
  if (!number) refuse_lines();
  return *number;
}

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
  std::string_view rest = text;
  if (!rest.starts_with(kLineHeadings)) refuse_lines();
  rest.remove_prefix(kLineHeadings.size());
  std::vector<LineRow> rows;
  std::array<std::string, 6> fields;
  while (!rest.empty()) {
    if (!take_row(rest, fields)) refuse_lines();
    rows.push_back({fields[0], fields[1], line_number_in<std::uint32_t>(fields[2]),
                    line_number_in<std::uint32_t>(fields[3]),
                    line_number_in<std::uint64_t>(fields[4]),
                    line_number_in<std::uint64_t>(fields[5])});
  }
  return rows;
}

std::vector<LineRow> read_line_rows(const std::filesystem::path& run) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  const std::filesystem::path path = run / name_of(Item::kLines);
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return {};
  int error = 0;
  const std::string text = os::read_file(path.string(), kMost, &error);
  if (error != 0) {
    throw Error("cannot read " + path.string() + ": " + std::strerror(error) + " [TL442]");
  }
  if (text.size() == kMost) refuse_lines();
  return parse_lines(text);
}

}  // namespace timeloom::run
