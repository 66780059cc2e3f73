// Any bytes as a filter file of Score-P, as patterns and as names: parsed, or refused with an
// Error. A pattern matches exactly the names that fnmatch(3) lets it match.
//
// An input is the text of the file, and behind it patterns and names by turns; each ends with a
// zero byte.
#include <fnmatch.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/filter/filter.hpp"
#include "core/filter/filter_file.hpp"
#include "core/text/name_pattern.hpp"

namespace timeloom {
namespace {

// fnmatch(3) may take exponential time for many stars.
constexpr std::size_t kLongest = 24;

std::string take(std::string_view& input) {
  std::string part(input.substr(0, input.find('\0')));
  input.remove_prefix(std::min(part.size() + 1, input.size()));
  return part;
}

Region named(const std::string& name) {
  Region region;
  region.name = region.canonical_name = name;
  region.file = "/home/me/" + name;
  region.group = name.substr(0, name.rfind('.'));
  return region;
}

void check_pattern(const std::string& pattern, const std::string& name) {
  const bool expected = ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  if (NamePattern(pattern).matches(name) != expected) std::abort();
  // A rule alone decides; what it excludes, it includes when it is the other kind.
  const Region region = named(name);
  const bool excluded = Filter({FilterRule{false, pattern}}).excluded(region);
  const bool left = Filter({FilterRule{true, pattern}}).excluded(region);
  if (excluded == left) std::abort();
}

void check_file(std::string_view text, const std::vector<std::string>& names) {
  const FilterFile file = FilterFile::parse(text, "input");
  if (!(file == FilterFile::parse(text, "input"))) std::abort();
  FilterChoices choices;
  choices.file = file;
  const Filter filter(choices);
  for (const std::string& name : names) {
    const Region region = named(name);
    if (filter.excluded_by_file(region) && !filter.excluded(region)) std::abort();
    if (file.empty() && excluded_by(file, region)) std::abort();
  }
}

}  // namespace
}  // namespace timeloom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string text = take(input);
  std::vector<std::string> names{"", "solver.step", "user:a"};
  while (!input.empty()) {
    const std::string pattern = take(input).substr(0, kLongest);
    const std::string name = take(input).substr(0, kLongest);
    check_pattern(pattern, name);
    names.push_back(name);
  }
  try {
    check_file(text, names);
  } catch (const Error&) {
    // refused, with its reason
  }
  return 0;
}
