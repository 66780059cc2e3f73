#include "core/text/count_text.hpp"

#include <charconv>
#include <system_error>

namespace timeloom {

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string plural(std::uint64_t number, std::string_view noun) {
  const std::string_view ending = number == 1 ? "" : noun.ends_with("ss") ? "es" : "s";
  return grouped(number).append(" ").append(noun).append(ending);
}

std::optional<double> seconds_in(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(stop, text.data() + text.size());
  const double size = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "min" ? 60 : 0;
  if (error != std::errc() || size == 0 || !(number >= 0)) return {};
  return number * size;
}

}  // namespace timeloom
