#include "python/observe/regions/module_of_file.hpp"

#include <map>
#include <string_view>
#include <utility>

#include "python/interpreter/compat.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/regions/code_regions.hpp"

namespace timeloom::python {
namespace {

// pkg/kern of pkg/kern.cpython-313.so.
std::string_view without_suffix(std::string_view file) {
  const std::size_t name = file.rfind('/') + 1;  // 0 without one
  return file.substr(0, file.find('.', name));
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// How many parts at the end of the paths are the same.
std::size_t common_parts(std::string_view a, std::string_view b) {
  std::size_t parts = 0;
  while (!a.empty() && last_part(a) == last_part(b)) {
    ++parts;
    const std::size_t slash_of_a = a.rfind('/'), slash_of_b = b.rfind('/');
    if (slash_of_a == std::string_view::npos || slash_of_b == std::string_view::npos) break;
    a = a.substr(0, slash_of_a);
    b = b.substr(0, slash_of_b);
  }
  return parts;
}

std::string file_of_module(PyObject* module) {
  if (!PyModule_Check(module)) return {};
  PyObject* const file = PyDict_GetItemString(PyModule_GetDict(module), "__file__");  // borrowed
  return file != nullptr && PyUnicode_Check(file) ? utf8_text(file) : std::string();
}

// Empty: none, or more than one.
std::string find_module(const std::string& file) {
  const Ref modules(PyDict_Copy(PyImport_GetModuleDict()));
  if (!modules) return PyErr_Clear(), std::string();
  PyObject *name = nullptr, *module = nullptr;
  Py_ssize_t position = 0;
  const PyObject* best = nullptr;
  std::size_t most = 0;
  std::string found;
  while (PyDict_Next(modules.get(), &position, &name, &module) != 0) {
    const std::string made = PyUnicode_Check(name) ? file_of_module(module) : std::string();
    if (made == file) return utf8_text(name);
    const bool extension = !made.empty() && !made.ends_with(".py") && !made.ends_with(".pyc");
    const std::size_t parts =
        extension ? common_parts(without_suffix(made), without_suffix(file)) : 0;
    if (parts == 0 || parts < most) continue;
    std::string text = utf8_text(name);
    if (parts > most) {
      found = std::move(text);
    } else if (module != best) {
      found.clear();
    } else if (text.size() > found.size()) {  // Cython may know it without its package, too
      found = std::move(text);
    }
    most = parts;
    best = module;
  }
  return found;
}

}  // namespace

std::string module_of_file(const std::string& file) {
  if (file.empty() || file.front() == '<') return {};
  static auto* const kKnown = new std::map<std::string, std::string>;
  if (const auto known = kKnown->find(file); known != kKnown->end()) return known->second;
  std::string name = find_module(file);
  // It may be found when it has been loaded.
  if (name.empty()) return std::string(last_part(without_suffix(file)));
  return kKnown->emplace(file, std::move(name)).first->second;
}

}  // namespace timeloom::python
