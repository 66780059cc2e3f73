#include "core/filter/filter_text.hpp"

#include <algorithm>

namespace timeloom {
namespace {

constexpr std::string_view kIncludeRule = "include ", kExcludeRule = "exclude ",
                           kFilterFileRule = "filter-file ", kOnlyMyCodeRule = "only-my-code";

// No name has a line break, and a pattern of one line cannot either.
std::string of_one_line(std::string text) {
  std::ranges::replace(text, '\n', '?');
  return text;
}

}  // namespace

std::string filter_text(const FilterChoices& choices, const std::string& filter_file) {
  std::string text;
  for (const FilterRule& rule : choices.rules) {
    text +=
        std::string(rule.include ? kIncludeRule : kExcludeRule) + of_one_line(rule.pattern) + "\n";
  }
  if (choices.only_my_code) text += std::string(kOnlyMyCodeRule) + "\n";
  if (!filter_file.empty()) text += std::string(kFilterFileRule) + filter_file + "\n";
  return text;
}

FilterChoices filter_choices_in(std::string_view text) {
  FilterChoices choices;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool include = line.starts_with(kIncludeRule);
    if (include || line.starts_with(kExcludeRule)) {
      const std::string_view pattern = line.substr((include ? kIncludeRule : kExcludeRule).size());
      if (!pattern.empty()) choices.rules.push_back({include, std::string(pattern)});
    } else if (line.starts_with(kFilterFileRule)) {
      choices.file = FilterFile::load(std::string(line.substr(kFilterFileRule.size())));
    } else if (line == kOnlyMyCodeRule) {
      choices.only_my_code = true;
    }
  }
  return choices;
}

}  // namespace timeloom
