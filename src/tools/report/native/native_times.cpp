#include "tools/report/native/native_times.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace timeloom::tools {
namespace {

constexpr char kInterpreter[] = "interpreter";
constexpr char kOurselves[] = "Timeloom";

bool is_interpreter(std::string_view library) {
  return library.starts_with("libpython") || library.starts_with("python");
}

bool is_ourselves(std::string_view library) {
  return library.starts_with("libtimeloom") || library.starts_with("_core.cpython");
}

// "libfoo.so+0x1234": a function without a name.
bool is_place(const NativePart& part) {
  return part.function.starts_with(part.library) && part.function.find("+0x") != std::string::npos;
}

// Less the checksum that wheels add to the names of their libraries: "libopenblas-4b78795a".
std::string without_checksum(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  const bool has = dash != std::string::npos && dash != 0 && name.size() - dash == 9 &&
                   name.find_first_not_of("0123456789abcdef", dash + 1) == std::string::npos;
  return has ? name.substr(0, dash) : name;
}

using RegionKey = std::tuple<std::string_view, std::string_view, std::uint32_t>;

}  // namespace

std::string library_label(const std::string& library) {
  if (is_interpreter(library)) return kInterpreter;
  if (is_ourselves(library)) return kOurselves;
  for (const char* const ending : {".cpython-", ".abi3.", ".so"}) {
    const std::size_t at = library.find(ending);
    if (at != std::string::npos && at != 0) return without_checksum(library.substr(0, at));
  }
  return library;
}

bool is_shown_whole(const std::string& label) noexcept {
  return label == kInterpreter || label == kOurselves;
}

std::string part_name(const NativePart& part) {
  if (part.library.empty()) {
    return part.function.empty() ? "generated code" : "generated: " + part.function;
  }
  if (part.whole) return part.library;
  if (is_place(part)) return part.function;
  return part.library + ": " + (part.function.empty() ? "(no name)" : part.function);
}

NativeTimes::NativeTimes(std::vector<run::SampleRow> rows, const Definitions& definitions)
    : rows_(std::move(rows)) {
  std::map<RegionKey, std::vector<RegionId>> regions;
  for (std::uint32_t i = 0; i < definitions.regions.size(); ++i) {
    const Region& region = definitions.regions[i];
    regions[{region.name, region.file, region.first_line}].emplace_back(i);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto found = regions.find({rows_[i].function, rows_[i].file, rows_[i].line});
    if (found == regions.end()) continue;
    for (const RegionId region : found->second) rows_of_[region].push_back(i);
  }
}

NativeShares NativeTimes::shares(const std::vector<RegionId>& regions) const {
  NativeShares shares;
  std::vector<std::size_t> chosen;
  for (const RegionId region : regions) {
    const auto found = rows_of_.find(region);
    if (found != rows_of_.end()) {
      chosen.insert(chosen.end(), found->second.begin(), found->second.end());
    }
  }
  std::ranges::sort(chosen);  // regions of one name share rows
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  std::map<std::pair<std::string, std::string>, NativePart> parts;
  for (const std::size_t i : chosen) {
    const run::SampleRow& row = rows_[i];
    const std::string label = library_label(row.library);
    const bool whole = is_shown_whole(label);
    const std::string function = whole ? std::string() : row.symbol;
    NativePart& part = parts[{label, function}];
    part = {label, function, whole, part.samples + row.samples, part.ns + row.ns};
    shares.samples += row.samples;
    shares.ns += row.ns;
  }
  for (auto& [key, part] : parts) shares.parts.push_back(std::move(part));
  std::ranges::stable_sort(shares.parts, std::ranges::greater(), &NativePart::ns);
  return shares;
}

NativeTimes read_native_times(const std::filesystem::path& run, const Definitions& definitions) {
  return {run::read_sample_rows(run), definitions};
}

}  // namespace timeloom::tools
