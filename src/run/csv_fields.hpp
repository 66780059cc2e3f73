// Fields of the CSV files in a run: quoted where they have to be, lines end with a newline.
//
// Plain functions, for any thread; they throw std::bad_alloc.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace timeloom::run {

inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + "\"";
}

// Takes a field from the front of the text, and the separator behind it.
inline std::string take_field(std::string_view& text, char& separator) {
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

// Takes a line of as many fields; false: it has another number of them.
inline bool take_row(std::string_view& text, std::span<std::string> fields) {
  for (std::string& field : fields) {
    char separator = 0;
    field = take_field(text, separator);
    if (separator != (&field != &fields.back() ? ',' : '\n')) return false;
  }
  return true;
}

template <typename Number>
std::optional<Number> number_of_field(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace timeloom::run
