// The vocabulary of anchor.xml: the nesting of elements, and the values of attributes.
//
// Plain values and functions. Functions throw Damage (cube_anchor.hpp).
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/cube/cube_anchor.hpp"

namespace timeloom::cube {

// The kinds of elements.
enum class Kind : std::uint8_t {
  kNone,
  kCube,
  kMirrors,
  kMetrics,
  kMetric,
  kProgram,
  kRegion,
  kCnode,
  kSystem,
  kSystemNode,
  kGroup,
  kLocation,
  kAttribute,
  kParameter,
  kText,     // of the enclosing object
  kSkipped,  // unknown, or not needed
};

// The kind of an element with that name inside `parent`.
Kind kind_of(Kind parent, std::string_view element);

std::string_view trimmed(std::string_view text);

template <typename Number>
Number to_number(std::string_view text, const std::string& what) {
  Number number{};
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw Damage{what + " '" + std::string(text) + "' is not a number in its range"};
  }
  return number;
}

// The attributes of an XML element, as expat gives them.
class XmlAttributes {
 public:
  explicit XmlAttributes(const char** all) : all_(all) {}
  const char* find(std::string_view name) const {
    for (const char** one = all_; *one != nullptr; one += 2) {
      if (name == one[0]) return one[1];
    }
    return nullptr;
  }
  std::string text(std::string_view name) const {
    const char* value = find(name);
    return value == nullptr ? std::string() : std::string(value);
  }
  // Older versions spell it "id" everywhere.
  std::uint32_t id(const std::string& element) const {
    const char* value = find("id");
    if (value == nullptr) value = find("Id");
    if (value == nullptr) throw Damage{"a <" + element + "> has no id"};
    return to_number<std::uint32_t>(value, "the id of a <" + element + ">");
  }
  std::int64_t line(std::string_view name) const {
    const char* value = find(name);
    return value == nullptr ? -1 : to_number<std::int64_t>(value, "a line");
  }
  Attributes all() const {
    Attributes result;
    for (const char** one = all_; *one != nullptr; one += 2) result.push_back({one[0], one[1]});
    return result;
  }

 private:
  const char** all_;
};

MetricKind metric_kind_of(std::string_view name);

// Throws Damage if the version is not supported.
void check_version(const std::string& version);

// The numbers of the file that only the end of the document can resolve.
struct AnchorNumbers {
  std::vector<std::uint32_t> callees;  // of cnodes: the number of the region
  std::vector<std::uint32_t> groups;
  std::vector<std::uint32_t> locations;
};

// Resolves and checks the numbers. REQUIRES: the document was read to its end.
void resolve(const AnchorNumbers& numbers, Anchor& anchor);

}  // namespace timeloom::cube
