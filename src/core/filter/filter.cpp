#include "core/filter/filter.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace timeloom {
namespace {

// The functions that run before the first line of an imported module or of `-m`: finders, loaders,
// codecs. Frozen modules have these names until the program, or its launcher, imports importlib.
constexpr std::array<std::string_view, 7> kImporting = {
    "importlib", "zipimport",         "encodings",
    "_imp",      "_frozen_importlib", "_frozen_importlib_external",
    "runpy"};

bool is_in_module(std::string_view module, std::string_view package) {
  return module.starts_with(package) &&
         (module.size() == package.size() || module[package.size()] == '.');
}

bool is_importing(const Region& region) {
  return std::ranges::any_of(kImporting,
                             [&](auto package) { return is_in_module(region.group, package); });
}

bool is_installed(std::string_view file) {
  return file.find("/site-packages/") != std::string_view::npos ||
         file.find("/dist-packages/") != std::string_view::npos;
}

// Some modules of the library are compiled into the interpreter: <frozen os>; and
// namedtuple() makes code in modules of its own.
bool is_of_library(const Region& region, std::string_view directory) {
  const std::string_view file = region.file;
  if (file.starts_with("<frozen ")) return true;
  if (file == "<string>" && region.group.starts_with("namedtuple_")) return true;
  return !directory.empty() && file.starts_with(directory) && !is_installed(file);
}

bool matches_file(const std::string& pattern, const std::string& file) {
  if (fnmatch(pattern.c_str(), file.c_str(), 0) == 0) return true;
  const bool anchored = pattern.front() == '/' || pattern.front() == '*';
  return !anchored && fnmatch(("*/" + pattern).c_str(), file.c_str(), 0) == 0;
}

bool is_for_names(const FilterRule& rule) {
  return rule.pattern.find('/') == std::string::npos && rule.pattern != "stdlib" &&
         rule.pattern != "site-packages";
}

bool is_for_files(const FilterRule& rule) { return rule.pattern.find('/') != std::string::npos; }

// The path without ./ and a/../, for comparison with filter files.
std::string plain_file(const std::string& file) {
  const bool plain = file.find("/.") == std::string::npos && file.find("//") == std::string::npos &&
                     !file.starts_with("./");
  return plain ? file : std::filesystem::path(file).lexically_normal().string();
}

void add(std::vector<std::string>& names, std::string name) {
  if (name.empty() || std::ranges::find(names, name) != names.end()) return;
  names.push_back(std::move(name));
}

}  // namespace

std::vector<std::string> names_in_filters(const Region& region) {
  std::vector<std::string> names;
  add(names, region.name);
  if (region.paradigm == Paradigm::kUser && region.group.empty()) {
    if (!region.name.starts_with("user:")) add(names, "user:" + region.name);
    return names;
  }
  add(names, region.canonical_name);
  const std::string& qualified = region.canonical_name;
  if (region.group.empty() || !qualified.starts_with(region.group + ".")) return names;
  const std::string inner = qualified.substr(region.group.size() + 1);
  const std::size_t dot = inner.rfind('.');
  add(names, region.group + ":" + inner.substr(dot + 1));
  if (dot == std::string::npos) return names;
  const std::string outer = inner.substr(0, dot);
  const std::string type = outer.substr(outer.rfind('.') + 1);
  if (type != "<locals>") add(names, region.group + "." + type + ":" + inner.substr(dot + 1));
  return names;
}

Filter::Filter(FilterChoices choices) : choices_(std::move(choices)) {}
Filter::Filter(std::vector<FilterRule> rules) { choices_.rules = std::move(rules); }

bool Filter::matches(const FilterRule& rule, const Region& region) const {
  const std::string& pattern = rule.pattern;
  if (pattern == "stdlib") return is_of_library(region, choices_.library_directory);
  if (pattern == "site-packages") return is_installed(region.file);
  if (pattern.find('/') != std::string::npos) return matches_file(pattern, region.file);
  return fnmatch(pattern.c_str(), region.name.c_str(), 0) == 0 ||
         is_in_module(region.group, pattern);
}

bool Filter::excluded_by_rules(const Region& region) const {
  const std::vector<FilterRule>& rules = choices_.rules;
  for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
    if (matches(*rule, region)) return !rule->include;
  }
  return excluded_unless_matched(region);
}

bool Filter::has_rule_for(const Region& region) const {
  return std::ranges::any_of(choices_.rules,
                             [&](const FilterRule& rule) { return matches(rule, region); });
}

bool Filter::excluded_unless_matched(const Region& region) const {
  if (choices_.only_my_code) {
    return region.file.empty() || is_installed(region.file) ||
           is_of_library(region, choices_.library_directory);
  }
  if (!choices_.rules.empty() && choices_.rules.front().include) return true;
  return !choices_.imports && is_importing(region);
}

bool Filter::hidden_import(const Region& region) const {
  return !choices_.imports && is_importing(region) && excluded_by_rules(region);
}

bool excluded_by(const FilterFile& file, const Region& region) {
  const std::vector<std::string> names = names_in_filters(region);
  return file.excluded(plain_file(region.file), names, names);
}

bool Filter::excluded_by_file(const Region& region) const {
  return !choices_.file.empty() && excluded_by(choices_.file, region);
}

bool Filter::excluded(const Region& region) const {
  return excluded_by_rules(region) || excluded_by_file(region);
}

bool Filter::has_rules_for_files() const {
  const auto& rules = choices_.rules;
  return choices_.file.has_rules_for_files() || std::ranges::any_of(rules, is_for_files);
}

bool Filter::excluded(const Region& object, const std::function<Region()>& function,
                      bool by_source) const {
  std::optional<Region> known;
  const auto found = [&]() -> const Region& {
    if (!known) known = function();
    return *known;
  };
  const auto decides = [&](const FilterRule& rule) {
    if (matches(rule, object)) return true;
    return (is_for_names(rule) || (by_source && is_for_files(rule))) && matches(rule, found());
  };
  const auto matching = std::find_if(choices_.rules.rbegin(), choices_.rules.rend(), decides);
  const bool decided = matching != choices_.rules.rend();
  if (decided ? !matching->include : excluded_unless_matched(object)) return true;
  if (choices_.file.empty()) return false;
  std::vector<std::string> names = names_in_filters(found());
  add(names, object.name);
  const std::string source = by_source ? plain_file(found().file) : std::string();
  const std::string& file = source.empty() ? plain_file(object.file) : source;
  return choices_.file.excluded(file, names, names);
}

}  // namespace timeloom
