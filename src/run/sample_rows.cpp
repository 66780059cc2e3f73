#include "run/sample_rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "core/error.hpp"
#include "os/read_file.hpp"
#include "run/contents.hpp"

namespace timeloom::run {
namespace {

constexpr std::string_view kHeadings =
    "function,file,line,library,library function,samples,nanoseconds";
constexpr std::size_t kColumns = 7;
using Fields = std::array<std::string, kColumns>;

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + "\"";
}

// Takes a field from the front of the text, and the separator behind it.
std::string take_field(std::string_view& text, char& separator) {
  std::string field;
  bool inside = !text.empty() && text.front() == '"';
  std::size_t at = inside ? 1 : 0;
  for (; at < text.size() && (inside || (text[at] != ',' && text[at] != '\n')); ++at) {
    if (!inside || text[at] != '"') {
      field += text[at];
    } else if (at + 1 < text.size() && text[at + 1] == '"') {
      field += text[at++];
    } else {
      inside = false;
    }
  }
  separator = at < text.size() ? text[at] : '\0';
  text.remove_prefix(std::min(at + 1, text.size()));
  return field;
}

[[noreturn]] void refuse_samples() {
  throw Error(
      "samples.csv is damaged or of another version; weave the run again, or remove the file "
      "[TL460]");
}

template <typename Number>
Number number_in(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) refuse_samples();
  return number;
}

Fields take_fields(std::string_view& text) {
  Fields fields;
  for (std::size_t i = 0; i < kColumns; ++i) {
    char separator = 0;
    fields[i] = take_field(text, separator);
    if (separator != (i + 1 < kColumns ? ',' : '\n')) refuse_samples();
  }
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
