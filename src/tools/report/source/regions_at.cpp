#include "tools/report/source/regions_at.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace timeloom::tools {

namespace {

bool is_end_of_path(std::string_view end, std::string_view path) {
  if (end.empty() || !path.ends_with(end)) return false;
  return path.size() == end.size() || path[path.size() - end.size() - 1] == '/';
}

bool contains(const Region& region, std::uint32_t line) {
  const std::uint32_t last = std::max(region.first_line, region.last_line);
  return region.first_line != 0 && region.first_line <= line && line <= last;
}

}  // namespace

std::vector<RegionId> regions_at(const Definitions& definitions, const std::string& place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return {};
  std::uint32_t line = 0;
  const char* const end = place.data() + place.size();
  const auto [stop, error] = std::from_chars(place.data() + colon + 1, end, line);
  if (error != std::errc() || stop != end) return {};
  const std::string_view file(place.data(), colon);
  std::vector<RegionId> found;
  std::uint32_t fewest = UINT32_MAX;
  for (std::uint32_t i = 0; i < definitions.regions.size(); ++i) {
    const Region& region = definitions.regions[i];
    if (!contains(region, line) || !is_end_of_path(file, region.file)) continue;
    const std::uint32_t lines = std::max(region.first_line, region.last_line) - region.first_line;
    if (lines > fewest) continue;
    if (lines < fewest) found.clear();
    fewest = lines;
    found.emplace_back(i);
  }
  return found;
}

}  // namespace timeloom::tools
