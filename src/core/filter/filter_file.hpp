// Filter files of Score-P, which select the regions to record by name and by source file.
//
//   SCOREP_REGION_NAMES_BEGIN
//     EXCLUDE *
//     INCLUDE main solver.* MANGLED solver.Matrix.dot
//   SCOREP_REGION_NAMES_END
//
// A plain value, parsed once; any thread may call excluded(). Parsing throws Error with
// one line: the file, the number of the line, and its mistake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/text/name_pattern.hpp"

namespace timeloom {

class FilterFile {
 public:
  FilterFile() = default;

  // Reads and parses the file.
  static FilterFile load(const std::filesystem::path& file);
  // The whole text of the file.
  static std::string read(const std::filesystem::path& file);
  // Parses a text; errors refer to it as `name`.
  static FilterFile parse(std::string_view text, const std::string& name);

  // Whether a region is left out. Rules for names never leave out a region without a
  // name (empty), nor do rules for files one without a file. If there is no mangled
  // name, rules for mangled names are compared with the name.
  bool excluded(const std::string& file, const std::string& name,
                const std::string& mangled_name) const;
  // The same for a region that has several names: a rule applies if it matches any of
  // them.
  bool excluded(const std::string& file, std::span<const std::string> names,
                std::span<const std::string> mangled_names) const;
  bool empty() const noexcept { return parsed_ == nullptr; }
  bool has_rules_for_files() const noexcept { return !empty() && !parsed_->files.rules.empty(); }
  friend bool operator==(const FilterFile& a, const FilterFile& b) {
    if (a.parsed_ == b.parsed_) return true;
    return !a.empty() && !b.empty() && a.parsed_->files.rules == b.parsed_->files.rules &&
           a.parsed_->regions.rules == b.parsed_->regions.rules;
  }

 private:
  struct Rule {
    bool include = false;
    bool mangled = false;  // is compared with the mangled name
    NamePattern pattern{""};
    friend bool operator==(const Rule&, const Rule&) = default;
  };
  // Rules in their order, with an index, so that a look-up among thousands is fast. Rules
  // are numbered from 1.
  struct Rules {
    std::vector<Rule> rules;
    std::unordered_map<std::string, std::uint32_t> words[2];  // last rule; [1]: mangled
    std::vector<std::uint32_t> others;                        // patterns

    void add(const Rule& rule);
    bool exclude(std::span<const std::string> names,
                 std::span<const std::string> mangled_names) const;
  };
  struct Parsed {
    Rules files;
    Rules regions;
  };
  class Parser;

  std::shared_ptr<const Parsed> parsed_;  // shared by copies; nullptr: no rules
};

}  // namespace timeloom
