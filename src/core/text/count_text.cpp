#include "core/text/count_text.hpp"

#include <charconv>
#include <system_error>

#include "core/text/number_text.hpp"

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

std::string three_digits(double value) {
  return fixed_text(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  std::string_view units = "kMGTPE";
  double value = static_cast<double>(bytes) / 1000;
  for (; value >= 999.5 && units.size() > 1; value /= 1000) units.remove_prefix(1);
  return three_digits(value) + " " + units.front() + "B";
}

std::optional<double> seconds_in(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(stop, text.data() + text.size());
  const double size = unit == "s"     ? 1
                      : unit == "ms"  ? 1e-3
                      : unit == "us"  ? 1e-6
                      : unit == "min" ? 60
                                      : 0;
  if (error != std::errc() || size == 0 || !(number >= 0)) return {};
  return number * size;
}

}  // namespace timeloom
