// Which regions are recorded: rules over the names and files of regions.
//
// A plain value, made once from the settings; excluded() may be called from any
// thread. It is asked once for each code object, never for an event.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace timeloom {

struct FilterRule {
  bool include = false;
  std::string pattern;  // as in fnmatch(3): * ? [set]
  friend bool operator==(const FilterRule&, const FilterRule&) = default;
};

// The last rule that matches decides. What no rule matches is recorded, unless
// the first rule is an include: then only what the rules include is recorded.
//
// A pattern with a / is matched against the file, any other against the name
// (`module.qualname`). A file pattern that begins with neither / nor * may
// match from any directory on: `tests/*` is also `/home/me/app/tests/test_a.py`.
class Filter {
 public:
  Filter() = default;
  explicit Filter(std::vector<FilterRule> rules);

  bool excluded(const std::string& name, const std::string& file) const;
  bool empty() const noexcept { return rules_.empty(); }
  const std::vector<FilterRule>& rules() const noexcept { return rules_; }
  friend bool operator==(const Filter&, const Filter&) = default;
  static bool matches(const FilterRule& rule, const std::string& name, const std::string& file);

 private:
  std::vector<FilterRule> rules_;
};

}  // namespace timeloom
