#include "python/observe/regions/search_filter.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/error.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// The names that Python gives to code without one: <module>, <lambda>, <listcomp>.
constexpr std::string_view kNameless = "^<.*>$";

bool is_nameless(std::string_view name) { return name.starts_with('<') && name.ends_with('>'); }

// Searches without Python's re, which a program is not made to import for the patterns that the
// door omnitrace excludes by default.
bool search_known(std::string_view expression, std::string_view text, bool* found) {
  constexpr std::string_view kFiles = "(encoder|decoder|threading).py$";
  if (expression == kNameless) return *found = is_nameless(text), true;
  if (expression != kFiles) return false;
  constexpr std::string_view kNames[] = {"encoder", "decoder", "threading"};
  *found = text.ends_with("py") && text.size() > 3 &&
           std::ranges::any_of(kNames, [text = text.substr(0, text.size() - 3)](auto name) {
             return text.ends_with(name);
           });
  return true;
}

// The compiled expressions of this process; they are few, and kept.
std::map<std::string, PyObject*, std::less<>>& compiled() {
  static auto* const kInstance = new std::map<std::string, PyObject*, std::less<>>;
  return *kInstance;
}

PyObject* compile(const std::string& expression, const std::string& origin) {
  const record::KeepOff nothing_of_this;
  const Ref module(PyImport_ImportModule("timeloom._search"));
  if (!module) throw PythonError();
  Ref pattern(
      PyObject_CallMethod(module.get(), "compile_expression", "N", checked(object_of(expression))));
  if (pattern) return pattern.release();
  if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw PythonError();
  throw Error(origin + ": " + take_exception_text() + " [TL122]");
}

// REQUIRES: it has been compiled. One that fails for a text is not found in it.
bool search(const std::string& expression, const std::string& text) {
  bool found = false;
  if (search_known(expression, text, &found)) return found;
  const auto pattern = compiled().find(expression);
  if (pattern == compiled().end()) return false;
  const Ref match(PyObject_CallMethod(pattern->second, "search", "N", object_of(text)));
  PyErr_Clear();
  return match && match.get() != Py_None;
}

bool any(const std::vector<std::string>& expressions, const std::string& text) {
  return std::ranges::any_of(expressions, [&](const auto& one) { return search(one, text); });
}

std::vector<std::string> expressions_of(const Settings& settings,
                                        SettingOf<SettingType::kString> setting) {
  std::vector<std::string> result;
  const std::string text = settings.text(setting);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) result.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const std::string& one : result) {
    bool ignored = false;
    if (search_known(one, {}, &ignored) || compiled().contains(one)) continue;
    compiled().emplace(one, compile(one, settings.origin(setting)));
  }
  return result;
}

}  // namespace

SearchFilter::SearchFilter(const Settings& settings)
    : functions_{expressions_of(settings, kSettings.function_restrict),
                 expressions_of(settings, kSettings.function_include),
                 expressions_of(settings, kSettings.function_exclude)},
      modules_{expressions_of(settings, kSettings.module_restrict),
               expressions_of(settings, kSettings.module_include),
               expressions_of(settings, kSettings.module_exclude)} {}

SearchFilter::Choice SearchFilter::by_function(const std::string& name) const {
  if (!functions_.restricted.empty()) {
    return any(functions_.restricted, name) ? Choice::kForced : Choice::kLeftOut;
  }
  if (any(functions_.included, name)) return Choice::kForced;
  if (!any(functions_.excluded, name)) return Choice::kOpen;
  return is_nameless(name) ? Choice::kLeftOut : Choice::kLeftOutWithCalls;
}

Verdict SearchFilter::of(const std::string& name, const std::string& file) const {
  switch (by_function(name)) {
    case Choice::kForced: return Verdict::kRecorded;
    case Choice::kLeftOut:
      return functions_.restricted.empty() && !records_file(file) ? Verdict::kFile
                                                                  : Verdict::kFunction;
    case Choice::kLeftOutWithCalls: return Verdict::kCalls;
    case Choice::kOpen: break;
  }
  return records_file(file) ? Verdict::kRecorded : Verdict::kFile;
}

bool SearchFilter::records_file(const std::string& file) const {
  if (!modules_.restricted.empty()) return any(modules_.restricted, file);
  return any(modules_.included, file) || !any(modules_.excluded, file);
}

bool SearchFilter::excludes_c_function(const std::string& name) const {
  const Choice choice = by_function(name);
  return choice == Choice::kLeftOut || choice == Choice::kLeftOutWithCalls;
}

}  // namespace timeloom::python
