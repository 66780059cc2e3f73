#include "python/observe/regions/label.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"

namespace timeloom::python {
namespace {

constexpr std::size_t kLongestArguments = 4096;

bool* part_called(LabelParts& parts, std::string_view name) {
  if (name == "args") return &parts.arguments;
  if (name == "file") return &parts.file;
  if (name == "line") return &parts.line;
  if (name == "path") return &parts.path;
  if (name == "qualname") return &parts.qualified;
  return nullptr;
}

// Adds `name=value` for the argument at this index; false with an exception set.
bool add_argument(std::string& text, InterpreterFrame* frame, int index, const char* stars) {
  PyObject* value = argument_of(frame, index);
  if (value == nullptr) return true;  // it has been deleted
  const Ref held = Ref::borrow(value);
  const Ref representation(PyObject_Repr(value));
  if (!representation) return false;
  if (text.size() > 1) text += ", ";
  text += stars;
  text += utf8_text(PyTuple_GET_ITEM(code_of(frame)->co_localsplusnames, index));
  text += "=" + utf8_text(representation.get());
  return true;
}

bool add_arguments(std::string& text, InterpreterFrame* frame) {
  const PyCodeObject* code = code_of(frame);
  int index = 0;
  for (const int named = code->co_argcount + code->co_kwonlyargcount; index < named; ++index) {
    if (!add_argument(text, frame, index, "")) return false;
  }
  if ((code->co_flags & CO_VARARGS) != 0 && !add_argument(text, frame, index++, "*")) return false;
  return (code->co_flags & CO_VARKEYWORDS) == 0 || add_argument(text, frame, index, "**");
}

// Cut between two characters.
std::string shortened(std::string text) {
  if (text.size() <= kLongestArguments) return text;
  std::size_t end = kLongestArguments;
  while ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

// Whether code of the program has raised the exception with this traceback by a statement.
bool is_raised_by_statement(PyObject* traceback) noexcept {
  auto* last = reinterpret_cast<PyTracebackObject*>(traceback);
  while (last != nullptr && last->tb_next != nullptr) last = last->tb_next;
  if (last == nullptr) return false;
  const Ref code(PyFrame_GetCode(last->tb_frame));
  return is_raise(code.code(), last->tb_lasti);
}

// An interrupt by the user is for the program, a KeyboardInterrupt of a __repr__ is not.
void drop_exception() noexcept {
  if (PyErr_Occurred() == nullptr) return;
  const bool interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  const Ref owned_type(type), owned_value(value), owned_traceback(traceback);
  if (interrupt && !is_raised_by_statement(traceback)) PyErr_SetInterrupt();
}

}  // namespace

LabelParts label_parts(const Settings& settings) {
  LabelParts parts;
  const std::string text = settings.text(kSettings.label);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty()) continue;
    bool* part = part_called(parts, name);
    if (part == nullptr) {
      throw Error(
          settings.origin(kSettings.label) + ": '" + name +
          "' is not accepted; write args, file, line, path, qualname with commas between [TL101]");
    }
    *part = true;
  }
  return parts;
}

namespace {

// Without links and relative parts, where there is such a file. With arguments in labels every call
// asks, so each thread remembers the answer of the system.
const std::string& real_path(const std::string& file) {
  thread_local std::unordered_map<std::string, std::string> known;
  const auto [found, is_new] = known.try_emplace(file);
  if (is_new) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(file, error);
    found->second = error ? file : real.string();
  }
  return found->second;
}

std::string shown_file(const LabelParts& parts, const std::string& file) {
  return parts.path ? real_path(file) : file.substr(file.rfind('/') + 1);
}

}  // namespace

std::string label_of(const LabelParts& parts, const Region& region, std::string_view arguments) {
  std::string text = region.name + std::string(arguments);
  const std::string line = parts.line ? ":" + std::to_string(region.first_line) : "";
  if (!parts.file || region.file.empty()) return text + (region.file.empty() ? "" : line);
  return "[" + text + "][" + shown_file(parts, region.file) + line + "]";
}

std::string arguments_of(InterpreterFrame* frame) noexcept {
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  try {
    std::string text = "(";
    if (add_arguments(text, frame)) {
      return shortened(std::move(text)) + ")";
    }
  } catch (const std::exception&) {  // out of memory
  }
  drop_exception();
  return {};
}

}  // namespace timeloom::python
