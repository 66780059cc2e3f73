// The rules that choose the recorded regions, by names and files.
//
// A plain value, made once from the settings; any thread may call excluded(). It is called
// once for each code object, never for an event.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions.hpp"
#include "core/filter/filter_file.hpp"

namespace timeloom {

// A pattern with a / is matched against the file, any other against the name
// (`module.qualname`). A file pattern that starts with neither / nor * may match from
// any directory on: `tests/*` also matches `/home/me/app/tests/test_a.py`.
//
// A pattern that is the name of a module or package stands for everything in it. The
// words stdlib and site-packages stand for the files of Python's library and of installed
// packages.
struct FilterRule {
  bool include = false;
  std::string pattern;  // as in fnmatch(3): * ? [set]
  friend bool operator==(const FilterRule&, const FilterRule&) = default;
};

struct FilterChoices {
  std::vector<FilterRule> rules;
  FilterFile file = {};
  bool imports = true;            // record Python's import system, too
  bool only_my_code = false;      // neither Python's library nor installed packages
  std::string library_directory;  // the path of Python's library, with a / at the end; empty: not
                                  // known
  friend bool operator==(const FilterChoices&, const FilterChoices&) = default;
};

// The last matching rule decides. A region that no rule matches is recorded, unless the
// first rule is an include: then only included regions are. For regions without a matching
// rule, only_my_code and imports decide. The filter file excludes regions whether or not
// rules include them.
class Filter {
 public:
  Filter() = default;
  explicit Filter(FilterChoices choices);
  explicit Filter(std::vector<FilterRule> rules);

  bool excluded(const Region& region) const;
  // The same for a function of compiled code and the object that contains it: a rule matches if it
  // matches the function or the object. `function` is called only if `object` alone does not
  // decide. `by_source`: the file of the function is its source file, with which rules for files
  // are compared as well.
  bool excluded(const Region& object, const std::function<Region()>& function,
                bool by_source = false) const;
  // Whether there are rules for files, of any kind.
  bool has_rules_for_files() const;
  // Whether one of the rules decides about the region.
  bool has_rule_for(const Region& region) const;
  // Whether the region is excluded as a part of the import system; the C functions that it
  // calls are excluded with it.
  bool hidden_import(const Region& region) const;
  // Whether the filter file excludes a user region; rules do not apply to user regions.
  bool excluded_by_file(const Region& region) const;
  const FilterChoices& choices() const noexcept { return choices_; }
  friend bool operator==(const Filter&, const Filter&) = default;

 private:
  bool matches(const FilterRule& rule, const Region& region) const;
  bool excluded_by_rules(const Region& region) const;
  bool excluded_unless_matched(const Region& region) const;

  FilterChoices choices_;
};

// The names of a region in filter files: its own, its fully qualified name, and the names
// given by the Python bindings of Score-P (`module:function`, `module.Class:function`,
// `user:name`).
std::vector<std::string> names_in_filters(const Region& region);
// Whether the file leaves the region out, by any of these names or its source file.
bool excluded_by(const FilterFile& file, const Region& region);

}  // namespace timeloom
