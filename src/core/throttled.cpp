#include "core/throttled.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text/joined.hpp"

namespace timeloom {
namespace {

constexpr std::string_view kSeparator = " | ";
constexpr char kUnknown[] = "unknown";

std::set<std::string> entries_in(const std::map<std::string, std::string>& properties,
                                 const char* key) {
  std::set<std::string> entries;
  const auto found = properties.find(key);
  std::string_view rest = found == properties.end() ? std::string_view() : found->second;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(kSeparator), rest.size());
    if (end > 0) entries.emplace(rest.substr(0, end));
    rest.remove_prefix(std::min(end + kSeparator.size(), rest.size()));
  }
  return entries;
}

}  // namespace

std::string region_entry(const Region& region) {
  std::string text =
      region.name + " (" + region.file + ":" + std::to_string(region.first_line) + ")";
  for (std::size_t at = 0; (at = text.find(kSeparator, at)) != std::string::npos;) text[at] = '_';
  for (char& byte : text) {
    if (static_cast<unsigned char>(byte) < ' ') byte = '_';
  }
  return text;
}

std::string ids_text(const std::vector<std::uint32_t>& ids) {
  return joined(ids, " ", [](std::uint32_t id) { return std::to_string(id); });
}

std::vector<std::uint32_t> ids_of(std::string_view text) {
  std::vector<std::uint32_t> ids;
  while (!text.empty()) {
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc()) break;
    ids.push_back(id);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with(' ')) break;
    text.remove_prefix(1);
  }
  return ids;
}

std::string to_text(const ObservedCpu& observed) {
  return std::to_string(observed.seen_ns) + " " + std::to_string(observed.all_ns);
}

ObservedCpu observed_cpu_of(std::string_view text) {
  ObservedCpu observed;
  const char* const end = text.data() + text.size();
  const auto [blank, error] = std::from_chars(text.data(), end, observed.seen_ns);
  if (error != std::errc() || blank == end || *blank != ' ') return {};
  const auto [rest, second] = std::from_chars(blank + 1, end, observed.all_ns);
  if (second != std::errc() || rest != end || observed.seen_ns > observed.all_ns) return {};
  return observed;
}

double share_of(const ObservedCpu& observed) {
  return static_cast<double>(observed.seen_ns) / static_cast<double>(observed.all_ns);
}

std::string observed_share_text(const std::vector<ObservedCpu>& processes) {
  double seen = 0, all = 0;
  for (const ObservedCpu& one : processes) {
    if (one.all_ns == 0) return kUnknown;
    seen += static_cast<double>(one.seen_ns);
    all += static_cast<double>(one.all_ns);
  }
  return seen < all ? std::to_string(seen / all) : std::string();
}

std::string seen_text(std::optional<double> observed_share) {
  if (!observed_share) return "functions not seen all the time";
  constexpr double kPercent = 100;
  const long percent = std::lround(*observed_share * kPercent);
  return "functions seen for " + (percent == 0 ? "less than 1" : std::to_string(percent)) +
         " % of the CPU time";
}

std::string throttled_text(const std::vector<const Region*>& regions) {
  std::set<std::string> entries;
  for (const Region* region : regions) entries.insert(region_entry(*region));
  std::string text;
  for (const std::string& entry : entries) {
    text += (text.empty() ? "" : std::string(kSeparator)) + entry;
  }
  return text;
}

ThrottledFunctions::ThrottledFunctions(const std::map<std::string, std::string>& properties)
    : entries_(entries_in(properties, kThrottled)), truncated_(entries_in(properties, kTruncated)) {
  const auto share = properties.find(kObservedShare);
  was_paused_ = share != properties.end();
  if (!was_paused_) return;
  const char* const last = share->second.data() + share->second.size();
  double value = 0;
  const auto [end, error] = std::from_chars(share->second.data(), last, value);
  if (error == std::errc() && end == last && value >= 0 && value <= 1) observed_share_ = value;
}

bool ThrottledFunctions::names(const Region& region) const {
  return !entries_.empty() && entries_.contains(region_entry(region));
}

bool ThrottledFunctions::truncates(const Region& region) const {
  return !truncated_.empty() && truncated_.contains(region_entry(region));
}

bool ThrottledFunctions::holds(const Region& region) const {
  return (was_paused_ && region.paradigm == Paradigm::kCompiler) || names(region);
}

}  // namespace timeloom
