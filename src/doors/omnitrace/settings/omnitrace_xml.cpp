#include "doors/omnitrace/settings/omnitrace_xml.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/error.hpp"
#include "settings/setting_words.hpp"

namespace timeloom {
namespace {

constexpr std::size_t kDeepest = 100;  // elements inside of each other

struct Element {
  std::string name;
  std::string text;
  std::vector<Element> children;
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : rest_(text), whole_(text), name_(name) {}

  Element parse() {
    Element root;
    parse_content(root, 0);
    if (!rest_.empty()) fail("an element ends that has not begun");
    if (root.children.empty() || !trimmed(root.text).empty()) fail("there is no element");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    const auto line = std::ranges::count(whole_.substr(0, whole_.size() - rest_.size()), '\n') + 1;
    throw Error(name_ + ":" + std::to_string(line) + ": " + why);
  }

  // Passes over what comes up to and with `end`, and returns what is before it.
  std::string_view take_to(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) fail("'" + std::string(end) + "' is missing");
    const std::string_view before = rest_.substr(0, at);
    rest_.remove_prefix(at + end.size());
    return before;
  }

  bool take(std::string_view begin) {
    if (!rest_.starts_with(begin)) return false;
    rest_.remove_prefix(begin.size());
    return true;
  }

  // Up to the end of the element, or of the text.
  void parse_content(Element& element, std::size_t depth) {
    if (depth > kDeepest) fail("too many elements inside of each other");
    while (!rest_.empty() && !rest_.starts_with("</")) {
      if (take("<!--")) {
        (void)take_to("-->");
      } else if (take("<![CDATA[")) {
        element.text += take_to("]]>");
      } else if (take("<?") || take("<!")) {
        (void)take_to(">");
      } else if (take("<")) {
        element.children.push_back(parse_element(depth));
      } else {
        const std::string_view text = rest_.substr(0, rest_.find('<'));
        element.text += resolved(text);
        rest_.remove_prefix(text.size());
      }
    }
  }

  Element parse_element(std::size_t depth) {
    std::string_view tag = take_to(">");
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    Element element;
    element.name = std::string(tag.substr(0, std::min(tag.find_first_of(" \t\r\n"), tag.size())));
    if (empty) return element;
    parse_content(element, depth + 1);
    if (!take("</") || trimmed(take_to(">")) != element.name) {
      fail("the element " + element.name + " does not end");
    }
    return element;
  }

  // With the characters that entities stand for.
  std::string resolved(std::string_view text) const {
    constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
        {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}}};
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '&') {
        result += text[i];
        continue;
      }
      const std::size_t end = text.find(';', i);
      const std::string_view entity = text.substr(i + 1, std::min(end, text.size()) - i - 1);
      const auto found =
          std::ranges::find(kEntities, entity, &std::pair<std::string_view, char>::first);
      if (end == std::string_view::npos || found == kEntities.end()) {
        fail("'&" + std::string(entity) + "' stands for nothing; write &amp; for &");
      }
      result += found->second;
      i = end;
    }
    return result;
  }

  std::string_view rest_;
  std::string_view whole_;
  const std::string& name_;
};

bool is_variable_element(std::string_view key) {
  return key.starts_with("OMNITRACE_") || key.starts_with("ROCPROFSYS_");
}

// A text, or those of a list, in which each value is an element.
std::string value_of(const Element& element) {
  for (const Element& child : element.children) {
    if (child.name == "value") return value_of(child);
  }
  std::string text(trimmed(element.text));
  for (const Element& child : element.children) {
    if (!child.name.starts_with("value")) continue;
    text += (text.empty() ? "" : ",") + std::string(trimmed(child.text));
  }
  return text;
}

void collect_elements(const Element& element, const std::string& name,
                      std::vector<ConfigLine>& lines) {
  for (const Element& child : element.children) {
    const std::string origin = name + ": " + child.name;
    if (is_variable_element(child.name) || child.children.empty()) {
      lines.push_back({child.name, value_of(child), origin});
    } else {
      collect_elements(child, name, lines);
    }
  }
}

}  // namespace

std::vector<ConfigLine> parse_omnitrace_xml(std::string_view text, const std::string& name) {
  std::vector<ConfigLine> lines;
  collect_elements(Parser(text, name).parse(), name, lines);
  return lines;
}

}  // namespace timeloom
