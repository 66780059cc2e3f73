// Reads anchor.xml with expat, without a document tree in memory.
#include <expat.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "core/error.hpp"
#include "formats/cube/read/anchor_words.hpp"
#include "formats/cube/xml_text.hpp"

namespace timeloom::cube {

namespace {

class AnchorParser {
 public:
  Anchor parse(const TextSource& text);

 private:
  struct Open {
    Kind kind;
    std::uint32_t index;  // of a metric, a cnode, ...
  };
  static void on_start(void* self, const char* name, const char** attributes);
  static void on_end(void* self, const char* name);
  static void on_text(void* self, const char* text, int size);
  static void on_doctype(void* self, const char*, const char*, const char*, int);
  template <typename Work>
  void guarded(Work work) noexcept;

  void start(const std::string& name, const XmlAttributes& attributes);
  std::uint32_t add(Kind kind, const std::string& name, const XmlAttributes& attributes);
  std::uint32_t add_metric(const XmlAttributes& attributes);
  std::uint32_t add_region(const XmlAttributes& attributes);
  std::uint32_t add_cnode(const XmlAttributes& attributes);
  std::uint32_t add_system_node(const std::string& name);
  std::uint32_t add_group(const std::string& name, const XmlAttributes& attributes);
  std::uint32_t add_location(const std::string& name, const XmlAttributes& attributes);
  void add_parameter(const XmlAttributes& attributes);
  void add_attribute(const XmlAttributes& attributes);
  Attributes& attributes_of(const Open& open);
  void end();
  void set_text(const Open& object, std::string_view name);
  template <typename Object>
  void set_string(Object& object, std::string_view name);
  void set_metric(Metric& metric, std::string_view name);
  template <typename Place>
  void set_place(Place& place, std::string_view name);

  void take(std::string_view text, bool last);

  XML_Parser parser_ = nullptr;
  std::size_t taken_ = 0;   // bytes that expat has been given
  std::size_t wanted_ = 1;  // this many are collected before expat gets them
  std::exception_ptr failure_;
  Anchor anchor_;
  Cube& cube_ = anchor_.cube;
  std::vector<Open> open_ = {{Kind::kNone, 0}};
  std::string text_;
  std::string text_name_;
  Attributes text_attributes_;
  AnchorNumbers numbers_;
};

template <typename Work>
void AnchorParser::guarded(Work work) noexcept {
  if (failure_) return;
  try {
    work();
  } catch (...) {
    failure_ = std::current_exception();  // exceptions must not pass through expat
    XML_StopParser(parser_, XML_FALSE);
  }
}

void AnchorParser::on_start(void* self, const char* name, const char** attributes) {
  auto& parser = *static_cast<AnchorParser*>(self);
  parser.guarded([&] { parser.start(name, XmlAttributes(attributes)); });
}

void AnchorParser::on_end(void* self, const char*) {
  auto& parser = *static_cast<AnchorParser*>(self);
  parser.guarded([&] { parser.end(); });
}

void AnchorParser::on_text(void* self, const char* text, int size) {
  auto& parser = *static_cast<AnchorParser*>(self);
  if (parser.open_.back().kind != Kind::kText) return;
  parser.guarded([&] { parser.text_.append(text, static_cast<std::size_t>(size)); });
}

void AnchorParser::on_doctype(void* self, const char*, const char*, const char*, int) {
  static_cast<AnchorParser*>(self)->guarded(
      [] { throw Damage{"its anchor.xml defines a document type, which CUBE has not"}; });
}

Anchor AnchorParser::parse(const TextSource& text) {
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate(nullptr), &XML_ParserFree);
  if (!parser) throw std::bad_alloc();
  parser_ = parser.get();
  XML_SetUserData(parser_, this);
  XML_SetElementHandler(parser_, on_start, on_end);
  XML_SetCharacterDataHandler(parser_, on_text);
  XML_SetStartDoctypeDeclHandler(parser_, on_doctype);
  TextRepair repair;
  std::string piece;
  for (bool last = false; !last;) {
    const std::string_view next = text();
    last = next.empty();
    piece += repair.next(next);
    if (!last && piece.size() < wanted_) continue;
    take(piece, last);
    piece.clear();
  }
  resolve(numbers_, anchor_);
  return std::move(anchor_);
}

// When a piece ends within a token, such as a long attribute, expat starts again at the token. So
// the next piece is as long as the part of the token read so far, which keeps the work linear.
void AnchorParser::take(std::string_view text, bool last) {
  constexpr std::size_t kLeast = std::size_t{1} << 20,
                        kMost = std::size_t{1} << 30;  // it counts in int
  do {
    const std::string_view piece = text.substr(0, kMost);
    text.remove_prefix(piece.size());
    const XML_Status status = XML_Parse(parser_, piece.data(), static_cast<int>(piece.size()),
                                        last && text.empty() ? 1 : 0);
    if (failure_) std::rethrow_exception(failure_);
    if (status != XML_STATUS_OK) {
      throw Damage{"its anchor.xml is no XML: line " +
                   std::to_string(XML_GetCurrentLineNumber(parser_)) + ": " +
                   XML_ErrorString(XML_GetErrorCode(parser_))};
    }
    taken_ += piece.size();
  } while (!text.empty());
  const auto done =
      static_cast<std::size_t>(std::max<XML_Index>(XML_GetCurrentByteIndex(parser_), 0));
  wanted_ = std::clamp(taken_ - std::min(done, taken_), kLeast, kMost);
}

void AnchorParser::start(const std::string& name, const XmlAttributes& attributes) {
  const Open parent = open_.back();
  const Kind kind = kind_of(parent.kind, name);
  if (parent.kind == Kind::kNone && kind != Kind::kCube) {
    throw Damage{"its anchor.xml holds <" + name + "> instead of <cube>"};
  }
  if (parent.kind == Kind::kNone) check_version(attributes.text("version"));
  if (kind == Kind::kText) {
    text_.clear();
    text_name_ = name;
    text_attributes_ = attributes.all();
  }
  const std::uint32_t index = add(kind, name, attributes);
  open_.push_back({kind, index});
}

// Returns the index of the new object, or of the object that contains it.
std::uint32_t AnchorParser::add(Kind kind, const std::string& name,
                                const XmlAttributes& attributes) {
  switch (kind) {
    case Kind::kMetric: return add_metric(attributes);
    case Kind::kRegion: return add_region(attributes);
    case Kind::kCnode: return add_cnode(attributes);
    case Kind::kSystemNode: return add_system_node(name);
    case Kind::kGroup: return add_group(name, attributes);
    case Kind::kLocation: return add_location(name, attributes);
    case Kind::kParameter: add_parameter(attributes); break;
    case Kind::kAttribute: add_attribute(attributes); break;
    default: break;
  }
  return open_.back().index;
}

std::uint32_t AnchorParser::add_metric(const XmlAttributes& attributes) {
  const auto index = static_cast<std::uint32_t>(cube_.metrics.size());
  anchor_.metrics.push_back(attributes.id("metric"));
  Metric metric;
  metric.kind = metric_kind_of(attributes.text("type"));
  metric.ghost = attributes.text("viztype") == "GHOST";
  metric.cacheable = attributes.text("cacheable") != "false";
  if (open_.back().kind == Kind::kMetric) metric.parent = CubeMetricId{open_.back().index};
  cube_.metrics.push_back(std::move(metric));
  return index;
}

std::uint32_t AnchorParser::add_region(const XmlAttributes& attributes) {
  const auto index = static_cast<std::uint32_t>(cube_.regions.size());
  anchor_.regions.push_back(attributes.id("region"));
  Region region;
  region.file = attributes.text("mod");
  region.begin = attributes.line("begin");
  region.end = attributes.line("end");
  cube_.regions.push_back(std::move(region));
  return index;
}

std::uint32_t AnchorParser::add_cnode(const XmlAttributes& attributes) {
  const auto index = static_cast<std::uint32_t>(cube_.cnodes.size());
  anchor_.cnodes.push_back(attributes.id("cnode"));
  numbers_.callees.push_back(to_number<std::uint32_t>(attributes.text("calleeId"), "a calleeId"));
  Cnode cnode;
  if (open_.back().kind == Kind::kCnode) cnode.parent = CnodeId{open_.back().index};
  cube_.cnodes.push_back(std::move(cnode));
  return index;
}

std::uint32_t AnchorParser::add_system_node(const std::string& name) {
  const auto index = static_cast<std::uint32_t>(cube_.system_nodes.size());
  SystemNode node;
  if (name != "systemtreenode") node.kind = name;
  if (open_.back().kind == Kind::kSystemNode) node.parent = SystemNodeId{open_.back().index};
  cube_.system_nodes.push_back(std::move(node));
  return index;
}

std::uint32_t AnchorParser::add_group(const std::string& name, const XmlAttributes& attributes) {
  const auto index = static_cast<std::uint32_t>(cube_.groups.size());
  numbers_.groups.push_back(attributes.id(name));
  Group group;
  group.node = SystemNodeId{open_.back().index};
  cube_.groups.push_back(std::move(group));
  return index;
}

std::uint32_t AnchorParser::add_location(const std::string& name, const XmlAttributes& attributes) {
  const auto index = static_cast<std::uint32_t>(cube_.locations.size());
  numbers_.locations.push_back(attributes.id(name));
  Location location;
  location.group = CubeGroupId{open_.back().index};
  cube_.locations.push_back(std::move(location));
  return index;
}

void AnchorParser::add_parameter(const XmlAttributes& attributes) {
  cube_.cnodes[open_.back().index].parameters.push_back({attributes.text("partype") != "string",
                                                         attributes.text("parkey"),
                                                         attributes.text("parvalue")});
}

Attributes& AnchorParser::attributes_of(const Open& open) {
  switch (open.kind) {
    case Kind::kMetric: return cube_.metrics[open.index].attributes;
    case Kind::kRegion: return cube_.regions[open.index].attributes;
    case Kind::kSystemNode: return cube_.system_nodes[open.index].attributes;
    case Kind::kGroup: return cube_.groups[open.index].attributes;
    case Kind::kLocation: return cube_.locations[open.index].attributes;
    default: return cube_.attributes;
  }
}

void AnchorParser::add_attribute(const XmlAttributes& attributes) {
  attributes_of(open_.back()).push_back({attributes.text("key"), attributes.text("value")});
}

void AnchorParser::end() {
  const Kind kind = open_.back().kind;
  open_.pop_back();
  if (kind == Kind::kText) set_text(open_.back(), text_name_);
}

// The string of the object that the element `name` sets; nullptr: none.
std::string* string_of(Metric& metric, std::string_view name) {
  if (name == "disp_name") return &metric.name;
  if (name == "uniq_name") return &metric.unique_name;
  if (name == "uom") return &metric.unit;
  if (name == "val") return &metric.value;
  if (name == "url") return &metric.url;
  if (name == "descr") return &metric.description;
  return nullptr;
}

std::string* string_of(Region& region, std::string_view name) {
  if (name == "name") return &region.name;
  if (name == "mangled_name") return &region.mangled_name;
  if (name == "paradigm") return &region.paradigm;
  if (name == "role") return &region.role;
  if (name == "url") return &region.url;
  if (name == "descr") return &region.description;
  return nullptr;
}

std::string* string_of(SystemNode& node, std::string_view name) {
  if (name == "name") return &node.name;
  if (name == "class") return &node.kind;
  if (name == "descr") return &node.description;
  return nullptr;
}

template <typename Place>
std::string* string_of(Place& place, std::string_view name) {
  if (name == "name") return &place.name;
  if (name == "type") return &place.type;
  return nullptr;
}

template <typename Object>
void AnchorParser::set_string(Object& object, std::string_view name) {
  if (std::string* const string = string_of(object, name)) *string = std::move(text_);
}

void AnchorParser::set_text(const Open& object, std::string_view name) {
  switch (object.kind) {
    case Kind::kMirrors: cube_.mirrors.push_back(std::move(text_)); break;
    case Kind::kMetric: set_metric(cube_.metrics[object.index], name); break;
    case Kind::kRegion: set_string(cube_.regions[object.index], name); break;
    case Kind::kSystemNode: set_string(cube_.system_nodes[object.index], name); break;
    case Kind::kGroup: set_place(cube_.groups[object.index], name); break;
    case Kind::kLocation: set_place(cube_.locations[object.index], name); break;
    default: break;
  }
  text_.clear();
}

void AnchorParser::set_metric(Metric& metric, std::string_view name) {
  if (name == "dtype") {
    try {
      metric.type = value_type_of(trimmed(text_));
    } catch (const Error& error) {
      throw Damage{error.what()};
    }
  } else if (name.starts_with("cubepl")) {
    metric.expressions.push_back(
        {std::string(name), std::move(text_attributes_), std::move(text_)});
  } else {
    set_string(metric, name);
  }
}

template <typename Place>
void AnchorParser::set_place(Place& place, std::string_view name) {
  if (name == "rank") {
    place.rank = to_number<std::uint64_t>(text_, "a rank");
  } else {
    set_string(place, name);
  }
}

}  // namespace

Anchor parse_anchor(const TextSource& text) { return AnchorParser().parse(text); }

}  // namespace timeloom::cube
