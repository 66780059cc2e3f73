#include "python/observe/regions/filter_choices.hpp"

#include <filesystem>
#include <utility>

#include "core/error.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/regions/code_regions.hpp"

namespace timeloom::python {
namespace {

// Asked for several times on the way to a measurement, and parsed once.
const FilterFile& parsed(const std::string& text, const std::string& name) {
  static auto* const kLast = new std::pair<std::string, FilterFile>;
  if (text != kLast->first) *kLast = {text, FilterFile::parse(text, name)};
  return kLast->second;
}

// Where the modules of Python's library lie. `os` is not there with -S.
std::string library_directory() {
  PyObject* directory = PySys_GetObject("_stdlib_dir");  // borrowed
  if (directory != nullptr && PyUnicode_Check(directory)) return utf8_text(directory) + "/";
  PyObject* os = PyDict_GetItemString(PyImport_GetModuleDict(), "os");  // borrowed
  const Ref file(os == nullptr ? nullptr : PyObject_GetAttrString(os, "__file__"));
  PyErr_Clear();
  const std::string path = file && PyUnicode_Check(file.get()) ? utf8_text(file.get()) : "";
  return path.substr(0, path.rfind('/') + 1);
}

}  // namespace

FilterSource read_filter_file(const Settings& settings) {
  const std::string name = settings.text(kSettings.filter_file);
  if (name.empty()) return {};
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(name, ignored);
  FilterSource file{path.lexically_normal().string(), FilterFile::read(name)};
  (void)parsed(file.text, name);
  return file;
}

Filter filter_of(const Settings& settings, const FilterSource& file) {
  FilterChoices choices{.rules = settings.rules(),
                        .imports = settings.flag(kSettings.imports),
                        .only_my_code = settings.flag(kSettings.only_my_code),
                        .library_directory = library_directory()};
  if (!file.path.empty()) choices.file = parsed(file.text, file.path);
  return Filter(std::move(choices));
}

}  // namespace timeloom::python
