#include "settings/workers_setting.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/error.hpp"
#include "settings/setting_words.hpp"

namespace timeloom {
namespace {

// Anything that looks like a number is one, and not the pattern of a name.
bool looks_like_number(std::string_view text) {
  return text.find_first_not_of("+-.0123456789") == std::string_view::npos;
}

std::uint64_t number_of_workers(const Settings& settings, const std::string& text) {
  constexpr std::uint64_t kMost = 1'000'000'000;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && read == end && number <= kMost) return number;
  throw Error(settings.origin(kSettings.workers) + ": '" + text +
              "' is not accepted; write a number of workers, a pattern of their names such as "
              "'tcp://10.*', all or none [TL477]");
}

}  // namespace

bool WorkerChoice::matches(const std::string& name) const {
  const auto fits = [this](const std::string& part) { return pattern->matches(part); };
  return fits(name) || std::ranges::any_of(split(name, " "), fits);
}

WorkerChoice worker_choice_of(const Settings& settings) {
  const std::string text = settings.text(kSettings.workers);
  WorkerChoice choice;
  if (text.empty() || text == "all") return choice;
  if (text == "none") {
    choice.most = 0;
  } else if (looks_like_number(text)) {
    choice.most = number_of_workers(settings, text);
  } else {
    choice.pattern.emplace(text);
  }
  return choice;
}

}  // namespace timeloom
