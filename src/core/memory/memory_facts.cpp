#include "core/memory/memory_facts.hpp"

#include <charconv>
#include <cmath>
#include <map>

namespace timeloom {
namespace {

// Calls `visit(name, value)` for each field.
template <typename Memory, typename Visit>
void each_field(Memory& memory, Visit visit) {
  visit("interval", memory.interval);
  visit("at_start", memory.at_start);
  visit("at_end", memory.at_end);
  visit("peak", memory.peak);
  visit("peak_time", memory.peak_time);
  const auto visit_apart = [&](const std::string& name, auto& apart) {
    visit(name + "_allocations", apart.allocations);
    visit(name + "_allocated", apart.allocated);
    visit(name + "_frees", apart.frees);
    visit(name + "_freed", apart.freed);
    visit(name + "_at_peak", apart.at_peak);
    visit(name + "_blocks_at_peak", apart.blocks_at_peak);
    visit(name + "_at_end", apart.at_end);
    visit(name + "_blocks_at_end", apart.blocks_at_end);
  };
  visit_apart("own", memory.own);
  visit_apart("other", memory.other);
  visit("lost", memory.lost);
  visit("foreign", memory.foreign);
  visit("ended", memory.ended);
  visit("all", memory.all);
  visit("before_at_peak", memory.before_at_peak);
  visit("before_at_end", memory.before_at_end);
  visit("resident_at_end", memory.resident_at_end);
}

}  // namespace

std::string memory_property(std::size_t group) {
  return std::string(kRunMemory) + "_" + std::to_string(group);
}

std::string to_text(const ProcessMemory& memory) {
  std::string text;
  each_field(memory, [&](const std::string& name, std::uint64_t value) {
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  });
  return text;
}

ProcessMemory process_memory(std::string_view text) {
  std::map<std::string_view, std::uint64_t> values;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() + (word.size() < text.size() ? 1 : 0));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    std::uint64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto read = std::from_chars(word.data() + equals + 1, end, value);
    if (read.ec == std::errc{} && read.ptr == end) values[word.substr(0, equals)] = value;
  }
  ProcessMemory memory;
  each_field(memory, [&](const std::string& name, std::uint64_t& value) {
    const auto found = values.find(name);
    if (found != values.end()) value = found->second;
  });
  return memory;
}

std::string to_text(const MemoryGrowth& growth) {
  std::string text;
  for (const std::uint64_t number :
       {growth.process, growth.from, growth.to, growth.time, growth.of_region}) {
    text += std::to_string(number) + " ";
  }
  return text + growth.region;
}

MemoryGrowth memory_growth(std::string_view text) {
  MemoryGrowth growth;
  for (std::uint64_t* const number :
       {&growth.process, &growth.from, &growth.to, &growth.time, &growth.of_region}) {
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, *number);
    if (read.ec != std::errc{} || read.ptr == end || *read.ptr != ' ') return {};
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()) + 1);
  }
  growth.region = text;
  return growth;
}

// A block of s bytes has the chance p = 1 - exp(-s/interval) and counts for s/p, with the variance
// (s/p)^2 (1 - p): at most interval^2, and nothing for blocks of many intervals.
double sampling_error(double blocks, double least, double interval) noexcept {
  constexpr double kSure = 16;
  return least >= kSure * interval ? 0 : interval * std::sqrt(blocks);
}

}  // namespace timeloom
