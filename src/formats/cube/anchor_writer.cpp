// Writes anchor.xml. Readers expect a fixed order of elements, one on each line, and require all of
// them even when they are empty.
#include <array>

#include "formats/cube/cube_anchor.hpp"
#include "formats/cube/xml_text.hpp"

namespace timeloom::cube {

namespace {

// XML readers change line ends in attributes, and carriage returns, unless they are escaped.
std::string_view entity_of(char byte, bool attribute) {
  switch (byte) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\'': return "&apos;";
    case '\r': return "&#13;";
    case '\n': return attribute ? "&#10;" : "";
    case '\t': return attribute ? "&#9;" : "";
    default: return "";
  }
}

class AnchorText {
 public:
  AnchorText(const Cube& cube, const TextSink& take) : cube_(cube), take_(take) {}

  void write() {
    text_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\n";
    // Version 4.7 is the first with locations that are not threads of a processor.
    text_ += has_accelerators() ? "<cube version=\"4.7\">\n" : "<cube version=\"4.4\">\n";
    attributes(cube_.attributes);
    text_ += "<doc>\n<mirrors>\n";
    for (const std::string& mirror : cube_.mirrors) element("murl", mirror);
    text_ += "</mirrors>\n</doc>\n<metrics>\n";
    metrics();
    text_ += "</metrics>\n<program>\n";
    for (std::size_t i = 0; i < cube_.regions.size(); ++i) region(i);
    cnodes();
    text_ += "</program>\n<system>\n";
    system();
    text_ += "</system>\n</cube>\n";
    take_(text_);
  }

 private:
  void escaped(std::string_view value, bool attribute) {
    while (!value.empty()) {
      const std::size_t length = sequence_length(value);
      const std::string_view entity = entity_of(value.front(), attribute);
      if (length == 0) {
        text_ += replacement_of(value.front());
      } else if (!entity.empty()) {
        text_ += entity;
      } else {
        text_ += value.substr(0, length);
      }
      value.remove_prefix(length == 0 ? 1 : length);
    }
  }
  void number(std::uint64_t value) { text_ += std::to_string(value); }

  void element(std::string_view name, std::string_view value) {
    text_ += '<';
    text_ += name;
    text_ += '>';
    escaped(value, false);
    text_ += "</";
    text_ += name;
    text_ += ">\n";
  }

  void attribute(std::string_view name, std::string_view value) {
    text_ += ' ';
    text_ += name;
    text_ += "=\"";
    escaped(value, true);
    text_ += '"';
  }

  void attributes(const Attributes& all) {
    for (const Attribute& one : all) {
      text_ += "<attr";
      attribute("key", one.key);
      attribute("value", one.value);
      text_ += "/>\n";
    }
  }

  bool has_accelerators() const {
    for (const Group& group : cube_.groups) {
      if (group.type == "accelerator") return true;
    }
    for (const Location& location : cube_.locations) {
      if (location.type == "accelerator stream") return true;
    }
    return false;
  }

  // Metrics precede their parts, but other metrics may lie between.
  void metrics() {
    std::vector<std::vector<std::uint32_t>> parts(cube_.metrics.size() + 1);
    for (std::uint32_t i = 0; i < cube_.metrics.size(); ++i) {
      const CubeMetricId parent = cube_.metrics[i].parent;
      parts[parent.defined() ? parent.value() : cube_.metrics.size()].push_back(i);
    }
    struct Step {
      std::uint32_t metric;
      bool end;
    };
    std::vector<Step> waiting;
    const auto wait_for = [&](const std::vector<std::uint32_t>& some) {
      for (auto one = some.rbegin(); one != some.rend(); ++one) waiting.push_back({*one, false});
    };
    for (wait_for(parts.back()); !waiting.empty();) {
      const Step step = waiting.back();
      waiting.pop_back();
      if (step.end) {
        text_ += "</metric>\n";
        continue;
      }
      metric(step.metric);
      waiting.push_back({step.metric, true});
      wait_for(parts[step.metric]);
    }
  }

  void metric(std::uint32_t index) {
    static constexpr std::array<std::string_view, 6> kKinds = {
        "EXCLUSIVE",           "INCLUSIVE", "SIMPLE", "POSTDERIVED", "PREDERIVED_INCLUSIVE",
        "PREDERIVED_EXCLUSIVE"};
    const Metric& one = cube_.metrics[index];
    text_ += "<metric id=\"";
    number(index);
    text_ += '"';
    attribute("type", kKinds[static_cast<std::size_t>(one.kind)]);
    if (one.ghost) text_ += " viztype=\"GHOST\"";
    if (!one.cacheable) text_ += " cacheable=\"false\"";
    text_ += ">\n";
    element("disp_name", one.name);
    element("uniq_name", one.unique_name);
    element("dtype", one.type.name());
    element("uom", one.unit);
    if (!one.value.empty()) element("val", one.value);
    element("url", one.url);
    element("descr", one.description);
    for (const Expression& expression : one.expressions) derive(expression);
    attributes(one.attributes);
  }

  void derive(const Expression& expression) {
    text_ += '<' + expression.element;
    for (const Attribute& one : expression.attributes) attribute(one.key, one.value);
    text_ += '>';
    escaped(expression.text, false);
    text_ += "</" + expression.element + ">\n";
  }

  void region(std::size_t index) {
    const Region& one = cube_.regions[index];
    text_ += "<region id=\"";
    number(index);
    text_ += '"';
    attribute("mod", one.file);
    attribute("begin", std::to_string(one.begin));
    attribute("end", std::to_string(one.end));
    text_ += ">\n";
    element("name", one.name);
    element("mangled_name", one.mangled_name);
    element("paradigm", one.paradigm);
    element("role", one.role);
    element("url", one.url);
    element("descr", one.description);
    attributes(one.attributes);
    text_ += "</region>\n";
  }

  // In pre-order, so the open elements are the ancestors of the next call path.
  void cnodes() {
    std::vector<CnodeId> open;
    for (std::uint32_t i = 0; i < cube_.cnodes.size(); ++i) {
      const Cnode& one = cube_.cnodes[i];
      while (!open.empty() && open.back() != one.parent) {
        text_ += "</cnode>\n";
        open.pop_back();
      }
      open.emplace_back(i);
      text_ += "<cnode id=\"";
      number(i);
      text_ += "\" calleeId=\"";
      number(one.region.value());
      text_ += "\">\n";
      for (const CnodeParameter& parameter : one.parameters) this->parameter(parameter);
      give();
    }
    for (std::size_t i = 0; i < open.size(); ++i) text_ += "</cnode>\n";
  }

  void parameter(const CnodeParameter& one) {
    text_ += "<parameter";
    attribute("partype", one.numeric ? "numeric" : "string");
    attribute("parkey", one.key);
    attribute("parvalue", one.value);
    text_ += " />\n";
  }

  void system() {
    std::vector<std::uint32_t> roots;
    children_.resize(cube_.system_nodes.size());
    groups_.resize(cube_.system_nodes.size());
    locations_.resize(cube_.groups.size());
    for (std::uint32_t i = 0; i < cube_.system_nodes.size(); ++i) {
      const SystemNodeId parent = cube_.system_nodes[i].parent;
      (parent.defined() ? children_[parent.value()] : roots).push_back(i);
    }
    for (std::uint32_t i = 0; i < cube_.groups.size(); ++i) {
      groups_[cube_.groups[i].node.value()].push_back(i);
    }
    for (std::uint32_t i = 0; i < cube_.locations.size(); ++i) {
      locations_[cube_.locations[i].group.value()].push_back(i);
    }
    for (const std::uint32_t root : roots) system_node(root);
  }

  // Recursive: a machine has few levels.
  void system_node(std::uint32_t index) {  // NOLINT(misc-no-recursion)
    const SystemNode& one = cube_.system_nodes[index];
    text_ += "<systemtreenode Id=\"";
    number(index);
    text_ += "\">\n";
    element("name", one.name);
    element("class", one.kind);
    if (!one.description.empty()) element("descr", one.description);
    attributes(one.attributes);
    for (const std::uint32_t group : groups_[index]) this->group(group);
    for (const std::uint32_t child : children_[index]) system_node(child);
    text_ += "</systemtreenode>\n";
  }

  template <typename Place>
  void place(const Place& one) {
    element("name", one.name);
    element("rank", std::to_string(one.rank));
    element("type", one.type);
    attributes(one.attributes);
  }

  void group(std::uint32_t index) {
    text_ += "<locationgroup Id=\"";
    number(index);
    text_ += "\">\n";
    place(cube_.groups[index]);
    for (const std::uint32_t location : locations_[index]) {
      text_ += "<location Id=\"";
      number(location);
      text_ += "\">\n";
      place(cube_.locations[location]);
      text_ += "</location>\n";
    }
    text_ += "</locationgroup>\n";
  }

  // The text of a million call paths is never in memory as a whole.
  void give() {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    if (text_.size() < kPiece) return;
    take_(text_);
    text_.clear();
  }

  const Cube& cube_;
  const TextSink& take_;
  std::string text_;
  std::vector<std::vector<std::uint32_t>> children_;   // of system nodes
  std::vector<std::vector<std::uint32_t>> groups_;     // of system nodes
  std::vector<std::vector<std::uint32_t>> locations_;  // of groups
};

}  // namespace

void write_anchor(const Cube& cube, const TextSink& take) { AnchorText(cube, take).write(); }

}  // namespace timeloom::cube
