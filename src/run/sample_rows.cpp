#include "run/sample_rows.hpp"

#include <array>
#include <cstring>
#include <string_view>

#include "core/error.hpp"
#include "os/read_file.hpp"
#include "run/contents.hpp"
#include "run/csv_fields.hpp"

namespace timeloom::run {
namespace {

constexpr std::string_view kHeadings =
    "function,file,line,library,library function,samples,nanoseconds";
constexpr std::size_t kColumns = 7;
using Fields = std::array<std::string, kColumns>;

[[noreturn]] void refuse_samples() {
  throw Error(
      "samples.csv is damaged or of another version; weave the run again, or remove the file "
      "[TL460]");
}

template <typename Number>
Number number_in(const std::string& text) {
  const auto number = number_of_field<Number>(text);
  if (!number) refuse_samples();
  return *number;
}

Fields take_fields(std::string_view& text) {
  Fields fields;
  if (!take_row(text, fields)) refuse_samples();
  return fields;
}

}  // namespace

std::string sample_text(const std::vector<SampleRow>& rows) {
  std::string text = std::string(kHeadings) + "\n";
  for (const SampleRow& row : rows) {
    for (const std::string& field : {row.function, row.file, std::to_string(row.line), row.library,
                                     row.symbol, std::to_string(row.samples)}) {
      text += csv_field(field) + ",";
    }
    text += std::to_string(row.ns) + "\n";
  }
  return text;
}

std::vector<SampleRow> parse_samples(const std::string& text) {
  std::string_view rest = text;
  if (!rest.starts_with(kHeadings) || rest.substr(kHeadings.size(), 1) != "\n") refuse_samples();
  rest.remove_prefix(kHeadings.size() + 1);
  std::vector<SampleRow> rows;
  while (!rest.empty()) {
    Fields fields = take_fields(rest);
    rows.push_back({std::move(fields[0]), std::move(fields[1]), number_in<std::uint32_t>(fields[2]),
                    std::move(fields[3]), std::move(fields[4]), number_in<std::uint64_t>(fields[5]),
                    number_in<std::uint64_t>(fields[6])});
  }
  return rows;
}

std::vector<SampleRow> read_sample_rows(const std::filesystem::path& run) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const std::filesystem::path path = run / name_of(Item::kSamples);
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return {};
  int error = 0;
  const std::string text = os::read_file(path.string(), kMost, &error);
  if (error != 0) {
    throw Error("cannot read " + path.string() + ": " + std::strerror(error) + " [TL460]");
  }
  return parse_samples(text);
}

}  // namespace timeloom::run
