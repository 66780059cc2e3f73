// Filter files of Score-P: which regions are recorded, by name and by source file.
//
//   SCOREP_REGION_NAMES_BEGIN
//     EXCLUDE *
//     INCLUDE main solver.* MANGLED solver.Matrix.dot
//   SCOREP_REGION_NAMES_END
//
// A plain value, parsed once; excluded() may be called from any thread. Parsing
// throws Error with one line: the file, the line, what is wrong with it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom {

class FilterFile {
 public:
  FilterFile() = default;

  // Reads the file.
  static FilterFile load(const std::filesystem::path& file);
  // The same from its text; `name` is what an error calls it.
  static FilterFile parse(std::string_view text, const std::string& name);

  // Whether a region is left out. One without a name or file (empty) is never
  // left out by rules of that kind; without a mangled name, rules for mangled
  // names look at its name.
  bool excluded(const std::string& file, const std::string& name,
                const std::string& mangled_name) const;
  bool empty() const noexcept { return file_rules_.empty() && region_rules_.empty(); }

 private:
  struct Rule {
    bool include = false;
    bool mangled = false;  // looks at the mangled name
    std::string pattern;   // as in fnmatch(3)
  };
  class Parser;

  static bool excluded_by(const std::vector<Rule>& rules, const std::string& name,
                          const std::string& mangled_name);

  std::vector<Rule> file_rules_;
  std::vector<Rule> region_rules_;
};

}  // namespace timeloom
