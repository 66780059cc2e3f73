#include "python/observe/filter_choices.hpp"

#include <filesystem>
#include <utility>

#include "core/error.hpp"
#include "python/launch/settings_binding.hpp"
#include "python/observe/code_regions.hpp"

namespace timeloom::python {
namespace {

constexpr char kFile[] = "filter_file";
constexpr char kText[] = "filter_text";

PyObject* item(PyObject* dict, const char* key) { return PyDict_GetItemString(dict, key); }

bool is_on(PyObject* dict, const char* key) { return item(dict, key) == Py_True; }

std::string text_item(PyObject* dict, const char* key) {
  PyObject* value = item(dict, key);
  return value != nullptr && PyUnicode_Check(value) ? bytes_of(value) : std::string();
}

void put(PyObject* dict, const char* key, const std::string& text) {
  const Ref value(object_of(text));
  if (!value || PyDict_SetItemString(dict, key, value.get()) != 0) throw PythonError();
}

std::vector<FilterRule> rules_of(PyObject* dict) {
  std::vector<FilterRule> rules;
  PyObject* sequence = item(dict, "filter");
  const Ref items(sequence == nullptr ? PyTuple_New(0) : PySequence_Tuple(sequence));
  if (!items) throw PythonError();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    int include = 0;
    const char* pattern = nullptr;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(items.get(), i), "ps", &include, &pattern)) {
      throw PythonError();
    }
    rules.push_back({include != 0, pattern});
  }
  return rules;
}

// Asked for several times on the way to a measurement, and parsed once.
const FilterFile& parsed(const std::string& text, const std::string& name) {
  static auto* const kLast = new std::pair<std::string, FilterFile>;
  if (text != kLast->first) *kLast = {text, FilterFile::parse(text, name)};
  return kLast->second;
}

// Where the modules of Python's library lie. `os` is not there with -S.
std::string library_directory() {
  PyObject* directory = PySys_GetObject("_stdlib_dir");  // borrowed
  if (directory != nullptr && PyUnicode_Check(directory)) return text_of(directory) + "/";
  PyObject* os = PyDict_GetItemString(PyImport_GetModuleDict(), "os");  // borrowed
  const Ref file(os == nullptr ? nullptr : PyObject_GetAttrString(os, "__file__"));
  PyErr_Clear();
  const std::string path = file && PyUnicode_Check(file.get()) ? text_of(file.get()) : "";
  return path.substr(0, path.rfind('/') + 1);
}

}  // namespace

void take_filter_file(PyObject* dict, const Settings& settings) {
  const std::string name = settings.text("filter-file");
  if (name.empty()) return;
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(name, ignored);
  const std::string text = FilterFile::read(name);
  (void)parsed(text, name);
  put(dict, kFile, path.lexically_normal().string());
  put(dict, kText, text);
}

Filter filter_of(PyObject* dict) {
  FilterChoices choices;
  choices.rules = rules_of(dict);
  choices.imports = is_on(dict, "imports");
  choices.only_my_code = is_on(dict, "only_my_code");
  choices.library_directory = library_directory();
  if (item(dict, kText) != nullptr) {
    choices.file = parsed(text_item(dict, kText), text_item(dict, kFile));
  }
  return Filter(std::move(choices));
}

}  // namespace timeloom::python
