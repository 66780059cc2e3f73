#include "doors/omnitrace/settings/omnitrace_xml.hpp"

#include <expat.h>

#include <exception>
#include <memory>
#include <new>

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

class XmlReader {
 public:
  explicit XmlReader(const std::string& name) : name_(name) {}

  // An element without a name, whose only child is the root.
  Element read(std::string_view text) {
    const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser(
        XML_ParserCreate(nullptr), &XML_ParserFree);
    if (!parser) throw std::bad_alloc();
    parser_ = parser.get();
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, on_start, on_end);
    XML_SetCharacterDataHandler(parser_, on_text);
    XML_SetEntityDeclHandler(parser_, on_entity);
    XML_SetSkippedEntityHandler(parser_, on_skipped);
    // A file has at most 16 MiB (omnitrace_config.cpp), which fit in an int.
    const XML_Status status = XML_Parse(parser_, text.data(), static_cast<int>(text.size()), 1);
    if (failure_) std::rethrow_exception(failure_);
    if (status != XML_STATUS_OK) fail(error_text());
    return std::move(document_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(name_ + ":" + std::to_string(XML_GetCurrentLineNumber(parser_)) + ": " + why +
                " [TL711]");
  }

  std::string error_text() const {
    const XML_Error error = XML_GetErrorCode(parser_);
    const bool unfinished = error == XML_ERROR_NO_ELEMENTS || error == XML_ERROR_TAG_MISMATCH;
    if (!unfinished || open_.size() == 1) return XML_ErrorString(error);
    return "the element " + open_.back()->name + " does not end";
  }

  // Exceptions must not pass through expat.
  template <typename Work>
  void guarded(Work work) noexcept {
    if (failure_) return;
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
      XML_StopParser(parser_, XML_FALSE);
    }
  }

  static void on_start(void* self, const char* name, const char**) {
    auto& reader = *static_cast<XmlReader*>(self);
    reader.guarded([&] {
      if (reader.open_.size() > kDeepest) reader.fail("too many elements inside of each other");
      std::vector<Element>& siblings = reader.open_.back()->children;
      reader.open_.push_back(&siblings.emplace_back());
      reader.open_.back()->name = name;
    });
  }

  static void on_end(void* self, const char*) {
    auto& reader = *static_cast<XmlReader*>(self);
    reader.guarded([&] { reader.open_.pop_back(); });
  }

  static void on_text(void* self, const char* text, int size) {
    auto& reader = *static_cast<XmlReader*>(self);
    reader.guarded([&] { reader.open_.back()->text.append(text, static_cast<std::size_t>(size)); });
  }

  // Entities of a file's own could stand for more text than there is memory, or for other files.
  static void on_entity(void* self, const char* name, int, const char*, int, const char*,
                        const char*, const char*, const char*) {
    auto& reader = *static_cast<XmlReader*>(self);
    reader.guarded([&] { reader.fail("the entity " + std::string(name) + " is declared"); });
  }

  // Expat passes over entities that a file elsewhere might declare.
  static void on_skipped(void* self, const char* name, int) {
    auto& reader = *static_cast<XmlReader*>(self);
    reader.guarded([&] { reader.fail("'&" + std::string(name) + "' stands for nothing"); });
  }

  const std::string& name_;
  XML_Parser parser_ = nullptr;
  std::exception_ptr failure_;
  Element document_;
  // From the outermost to the innermost. Only the innermost gets children, so none of them moves.
  std::vector<Element*> open_ = {&document_};
};

bool is_variable_element(std::string_view key) {
  return key.starts_with("OMNITRACE_") || key.starts_with("ROCPROFSYS_");
}

// A text, or the texts of a list, in which each value is an element.
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
  collect_elements(XmlReader(name).read(text), name, lines);
  return lines;
}

}  // namespace timeloom
