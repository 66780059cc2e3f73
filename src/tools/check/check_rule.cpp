#include "tools/check/check_rule.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/text/joined.hpp"
#include "tools/text/formatted.hpp"

namespace timeloom::tools {

namespace {

constexpr std::array<std::pair<std::string_view, Quantity>, 20> kQuantities = {{
    {"total", Quantity::kTotal},
    {"self", Quantity::kSelf},
    {"visits", Quantity::kVisits},
    {"min", Quantity::kMin},
    {"max", Quantity::kMax},
    {"mean", Quantity::kMean},
    {"work", Quantity::kWork},
    {"waiting", Quantity::kWaiting},
    {"allocations", Quantity::kAllocations},
    {"allocated", Quantity::kAllocated},
    {"held", Quantity::kHeld},
    {"peak", Quantity::kPeak},
    {"wall", Quantity::kWall},
    {"gc", Quantity::kCollections},
    {"overhead", Quantity::kOverhead},
    {"efficiency", Quantity::kEfficiency},
    {"balance", Quantity::kBalance},
    {"communication", Quantity::kCommunication},
    {"threads", Quantity::kThreads},
    {"processes", Quantity::kProcesses},
}};

constexpr char kAllMemory[] = "memory";        // of the run: peak(memory) is peak
constexpr char kWaitingBefore[] = "waiting_";  // the word of a cause

// The longer ones first.
constexpr std::array<std::pair<std::string_view, Comparison>, 5> kComparisons = {{
    {"<=", Comparison::kAtMost},
    {">=", Comparison::kAtLeast},
    {"==", Comparison::kEqual},
    {"<", Comparison::kLess},
    {">", Comparison::kMore},
}};

const std::array<Unit, 14> kUnits = {{{"ns", 1, 1e9},
                                      {"us", 1, 1e6},
                                      {"\u00b5s", 1, 1e6},
                                      {"ms", 1, 1e3},
                                      {"s"},
                                      {"min", 60},
                                      {"%", 1, 100},
                                      {"B"},
                                      {"kB", 1e3},
                                      {"MB", 1e6},
                                      {"GB", 1e9},
                                      {"KiB", 0x1p10},
                                      {"MiB", 0x1p20},
                                      {"GiB", 0x1p30}}};

enum class Kind : std::uint8_t { kTime, kCount, kShare, kBytes };

Kind rule_kind(Quantity quantity) {
  switch (quantity) {
    case Quantity::kAllocated:
    case Quantity::kHeld:
    case Quantity::kPeak: return Kind::kBytes;
    case Quantity::kVisits:
    case Quantity::kAllocations:
    case Quantity::kThreads:
    case Quantity::kProcesses: return Kind::kCount;
    case Quantity::kOverhead:
    case Quantity::kEfficiency:
    case Quantity::kBalance:
    case Quantity::kCommunication: return Kind::kShare;
    default: return Kind::kTime;
  }
}

bool may_be_share(Quantity quantity) {
  return quantity == Quantity::kTotal || quantity == Quantity::kSelf ||
         rule_kind(quantity) == Kind::kShare;
}

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text), rest_(text) {}

  Rule parse() {
    Rule rule;
    rule.text = text_;
    std::string first = word();
    const bool chosen = first == "any" || first == "all";
    if (chosen) {
      rule.any = first == "any";
      first = word();
    }
    what(first, rule);
    if (chosen && !rule.is_of_regions()) fail("'any' and 'all' go with regions only");
    rule.comparison = comparison();
    value(rule);
    skip_blanks();
    if (!rest_.empty()) fail("nothing may follow the value");
    return rule;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error("rule '" + text_ + "': " + problem + " [TL407]");
  }

  void skip_blanks() {
    const std::size_t begin = rest_.find_first_not_of(" \t");
    rest_.remove_prefix(begin == std::string_view::npos ? rest_.size() : begin);
  }

  std::string word() {
    skip_blanks();
    std::size_t end = 0;
    const auto belongs = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    while (end < rest_.size() && belongs(rest_[end])) ++end;
    std::string result(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return result;
  }

  // The measured value, and its regions.
  void what(const std::string& first, Rule& rule) {
    if (first == "region") {
      rule.region = name(" \t");
      quantity(word(), rule);
    } else {
      quantity(first, rule);
      skip_blanks();
      if (rest_.starts_with('(')) {
        rest_.remove_prefix(1);
        skip_blanks();
        const bool of_run = rest_.starts_with(')') && may_be_of_run(rule.quantity);  // work()
        if (!of_run) rule.region = name(")");
        skip_blanks();
        if (!rest_.starts_with(')')) fail("a ')' is missing");
        rest_.remove_prefix(1);
        if (is_of_memory(rule.quantity) && rule.region == kAllMemory) rule.region.clear();
      }
    }
    if (!may_be_of_run(rule.quantity) && rule.region.empty()) {
      fail(formatted("of which region? Write {}(NAME)", quantity_name(rule.quantity)));
    }
    if (!may_be_of_regions(rule.quantity) && !rule.region.empty()) {
      fail(formatted("{} is a value of the run, not of a region", quantity_name(rule.quantity)));
    }
  }

  void quantity(const std::string& word, Rule& rule) const {
    for (const auto& [name, quantity] : kQuantities) {
      if (name == word) return void(rule.quantity = quantity);
    }
    for (std::size_t i = 0; i < kWaitingCauses; ++i) {
      if (word != kWaitingBefore + std::string(kCauseWords[i])) continue;
      rule.quantity = Quantity::kWaiting;
      rule.cause = static_cast<WaitingCause>(i);
      return;
    }
    fail((word.empty() ? "a quantity is missing" : "'" + word + "' is not a quantity") +
         "; there are " + joined(kQuantities, ", ", [](const auto& one) { return one.first; }) +
         ", and waiting_ with " +
         joined(kCauseWords, ", ", [](const char* one) { return std::string_view(one); }));
  }

  // Up to one of `ends`, or in quotes, where \ takes the next character as it is.
  std::string name(std::string_view ends) {
    skip_blanks();
    std::string result;
    if (rest_.starts_with('"') || rest_.starts_with('\'')) {
      result = quoted();
    } else {
      const std::string_view part = rest_.substr(0, rest_.find_first_of(ends));
      rest_.remove_prefix(part.size());
      result = part.substr(0, part.find_last_not_of(" \t") + 1);
    }
    if (result.empty()) fail("the name of the region is missing");
    return result;
  }

  std::string quoted() {
    const char quote = rest_.front();
    std::string result;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == quote) {
        rest_.remove_prefix(i + 1);
        return result;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
      result += rest_[i];
    }
    fail("the name of the region has no closing quote");
  }

  Comparison comparison() {
    skip_blanks();
    for (const auto& [sign, comparison] : kComparisons) {
      if (!rest_.starts_with(sign)) continue;
      rest_.remove_prefix(sign.size());
      return comparison;
    }
    fail("a comparison is missing: one of <, <=, >, >=, ==");
  }

  void value(Rule& rule) {
    skip_blanks();
    double number = 0;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (read.ec != std::errc() || !std::isfinite(number) || number < 0) {
      fail("a value is missing, such as 2s, 3 or 5%");
    }
    rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
    skip_blanks();
    const std::string_view unit = rest_.substr(0, rest_.find_first_of(" \t"));
    rest_.remove_prefix(unit.size());
    rule.unit = unit_of(rule.quantity, unit);
    rule.limit = rule.unit.to_base(number);
    if (!std::isfinite(rule.limit)) fail("the value is too large");
    if (rule_kind(rule.quantity) == Kind::kCount && number != std::floor(number)) {
      fail(formatted("{} takes a whole number", quantity_name(rule.quantity)));
    }
  }

  static bool fits(const Unit& unit, Quantity quantity) {
    if (unit.name == "%") return may_be_share(quantity);
    return rule_kind(quantity) == (unit.name.ends_with('B') ? Kind::kBytes : Kind::kTime);
  }

  Unit unit_of(Quantity quantity, std::string_view name) const {
    const Kind kind = rule_kind(quantity);
    if (kind == Kind::kCount) {
      if (!name.empty())
        fail(formatted("{} takes a number without a unit", quantity_name(quantity)));
      return {};
    }
    for (const Unit& unit : kUnits) {
      if (unit.name == name && fits(unit, quantity)) return unit;
    }
    if (kind == Kind::kBytes) {
      fail(formatted("{} takes bytes with their unit (B, kB, MB, GB, KiB, MiB, GiB)",
                     quantity_name(quantity)));
    }
    if (kind == Kind::kShare) {
      fail(formatted("{} takes a percentage, such as 5%", quantity_name(quantity)));
    }
    fail(formatted("{} takes a time with its unit (ns, us, ms, s, min){}", quantity_name(quantity),
                   may_be_share(quantity) ? " or a percentage" : ""));
  }

  const std::string& text_;
  std::string_view rest_;
};

}  // namespace

std::string_view quantity_name(Quantity quantity) {
  for (const auto& [name, one] : kQuantities) {
    if (one == quantity) return name;
  }
  return {};
}

bool holds(double measured, Comparison comparison, double limit) {
  switch (comparison) {
    case Comparison::kLess: return measured < limit;
    case Comparison::kAtMost: return measured <= limit;
    case Comparison::kMore: return measured > limit;
    case Comparison::kAtLeast: return measured >= limit;
    case Comparison::kEqual: return measured == limit;
  }
  return false;
}

std::string Rule::quantity_text() const {
  if (!cause) return std::string(quantity_name(quantity));
  return kWaitingBefore + std::string(kCauseWords[static_cast<std::size_t>(*cause)]);
}

bool Rule::forbids() const { return quantity == Quantity::kVisits && holds(0) && !holds(1); }

Rule parse_rule(const std::string& text) { return Parser(text).parse(); }

}  // namespace timeloom::tools
