#include "core/filter.hpp"

#include <fnmatch.h>

#include <utility>

namespace timeloom {

Filter::Filter(std::vector<FilterRule> rules) : rules_(std::move(rules)) {}

bool Filter::matches(const FilterRule& rule, const std::string& name, const std::string& file) {
  const std::string& pattern = rule.pattern;
  if (pattern.find('/') == std::string::npos) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  }
  if (fnmatch(pattern.c_str(), file.c_str(), 0) == 0) {
    return true;
  }
  const bool anchored = pattern.front() == '/' || pattern.front() == '*';
  return !anchored && fnmatch(("*/" + pattern).c_str(), file.c_str(), 0) == 0;
}

bool Filter::excluded(const std::string& name, const std::string& file) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (matches(*rule, name, file)) {
      return !rule->include;
    }
  }
  return !rules_.empty() && rules_.front().include;
}

}  // namespace timeloom
