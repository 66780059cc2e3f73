#include "exchange/selection.hpp"

#include <algorithm>
#include <string_view>

#include "core/engines/engine_regions.hpp"
#include "core/error.hpp"
#include "core/filter/filter.hpp"
#include "exchange/format_text.hpp"

namespace timeloom::exchange {

namespace {

// "/usr/lib/python3.12/" for "/usr/lib/python3.12/json/decoder.py"; empty: not in a library.
std::string_view library_of(std::string_view file) {
  constexpr std::string_view kBegin = "/lib/python3.", kDigits = "0123456789";
  for (std::size_t at = file.find(kBegin); at != file.npos; at = file.find(kBegin, at + 1)) {
    const std::size_t number = at + kBegin.size();
    std::size_t end = std::min(file.find_first_not_of(kDigits, number), file.size());
    const bool numbered = end > number;
    if (file.substr(end).starts_with('t')) ++end;  // a build without a GIL
    if (numbered && file.substr(end).starts_with('/')) return file.substr(0, end + 1);
  }
  return {};
}

// The directories of Python's library that contain files of the run, with a / at the end.
std::set<std::string> libraries_of(const Definitions& definitions) {
  std::set<std::string> found;
  for (const Region& region : definitions.regions) {
    if (!region.file.starts_with('/')) continue;
    if (const std::string_view library = library_of(region.file); !library.empty()) {
      found.emplace(library);
    }
  }
  if (found.empty()) found.insert("");
  return found;
}

}  // namespace

std::set<LocationId> chosen_locations(const Selection& selection, const Definitions& definitions) {
  std::set<LocationId> ids;
  std::set<std::string> missing(selection.threads.begin(), selection.threads.end());
  for (const Location& location : definitions.locations) {
    bool wanted = selection.threads.empty();
    for (const std::string& one : selection.threads) {
      if (one != display_name(location) && one != std::to_string(location.id.value())) continue;
      wanted = true;
      missing.erase(one);
    }
    if (wanted) ids.insert(location.id);
  }
  if (!missing.empty()) {
    throw Error("no thread '" + one_line(*missing.begin()) +
                "' in this run; 'timeloom info' lists them [TL415]");
  }
  return ids;
}

std::vector<bool> chosen_regions(const Selection& selection, const Definitions& definitions) {
  std::vector<bool> chosen;
  for (const Region& region : definitions.regions) {
    chosen.push_back(std::ranges::find(selection.left_out, category_of(region)) ==
                     selection.left_out.end());
  }
  if (!selection.only_my_code) return chosen;
  std::vector<Filter> filters;
  for (const std::string& library : libraries_of(definitions)) {
    FilterChoices choices;
    choices.only_my_code = true;
    choices.library_directory = library;
    filters.emplace_back(std::move(choices));
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Region& region = definitions.regions[i];
    const Category category = category_of(region);
    if (category == Category::kUser || category == Category::kMeasurement) continue;
    if (is_engine_task(region) || is_task_request(region) || tells_task_times(region)) continue;
    // Score-P's Python bindings put a directory in front of it.
    if (region.file.find("/<frozen ") != std::string::npos) {
      chosen[i] = false;
      continue;
    }
    if (std::ranges::any_of(filters,
                            [&](const Filter& filter) { return filter.excluded(region); })) {
      chosen[i] = false;
    }
  }
  if (std::ranges::find(chosen, true) == chosen.end()) {
    throw Error("no region of this run is code of yours; leave out --only-my-code [TL310]");
  }
  return chosen;
}

}  // namespace timeloom::exchange
