#include "symbols/function_symbols.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace timeloom::symbols {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
// Functions do not lie in one another, except for labels in assembly code. Damage could nest them
// as deep as the table is long.
constexpr int kDeepest = 64;

std::uint64_t end_of(std::uint64_t address, std::uint64_t size) {
  return size > UINT64_MAX - address ? UINT64_MAX : address + size;
}

}  // namespace

FunctionSymbols::FunctionSymbols(std::vector<Entry> entries, std::vector<char> names)
    : names_(std::move(names)) {
  if (names_.empty() || names_.back() != '\0') names_.push_back('\0');
  std::erase_if(entries, [this](const Entry& one) { return name_at(one.name).empty(); });
  std::sort(entries.begin(), entries.end(), [this](const Entry& a, const Entry& b) {
    if (a.address != b.address) return a.address < b.address;
    return is_better(a, b);
  });
  functions_.reserve(entries.size());
  for (const Entry& one : entries) {
    if (functions_.empty() || functions_.back().address != one.address) {
      functions_.push_back({one.address, 0, one.name, kNone, one.size != 0});
      functions_.back().end = one.size != 0 ? end_of(one.address, one.size) : one.limit;
    } else if (!functions_.back().has_size && one.size != 0) {  // another name tells the size
      functions_.back().has_size = true;
      functions_.back().end = end_of(one.address, one.size);
    }
  }
  add_surroundings();
}

// A function of unknown size ends where the next one starts.
void FunctionSymbols::add_surroundings() {
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < functions_.size(); ++i) {
    Function& one = functions_[i];
    if (!one.has_size) {
      const bool last = i + 1 == functions_.size();
      if (one.end <= one.address) one.end = end_of(one.address, 1);
      if (!last) one.end = std::min(one.end, functions_[i + 1].address);
    }
    while (!open.empty() && functions_[open.back()].end <= one.address) open.pop_back();
    if (!open.empty()) one.around = open.back();
    open.push_back(i);
  }
}

std::string_view FunctionSymbols::name_at(std::uint32_t offset) const noexcept {
  return offset < names_.size() ? std::string_view(names_.data() + offset) : std::string_view();
}

bool FunctionSymbols::is_better(const Entry& one, const Entry& other) const noexcept {
  const auto key = [this](const Entry& entry) {
    const std::string_view name = name_at(entry.name);
    const bool versioned = name.find('@') != std::string_view::npos;
    return std::tuple(-static_cast<int>(entry.binding), versioned, name.size(), name);
  };
  return key(one) < key(other);
}

std::optional<FunctionSymbol> FunctionSymbols::find(std::uint64_t address) const noexcept {
  const auto behind = std::ranges::upper_bound(functions_, address, {}, &Function::address);
  if (behind == functions_.begin()) return std::nullopt;
  const Function* found = nullptr;
  auto at = static_cast<std::uint32_t>(behind - functions_.begin()) - 1;
  for (int depth = 0; at != kNone && depth < kDeepest; ++depth, at = functions_[at].around) {
    const Function& one = functions_[at];
    if (address >= one.end) continue;
    if (found == nullptr || one.has_size) found = &one;
    if (one.has_size) break;  // a label in a function counts only if there is no function
  }
  if (found == nullptr) return std::nullopt;
  return FunctionSymbol{found->address, name_at(found->name)};
}

}  // namespace timeloom::symbols
