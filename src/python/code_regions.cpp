#include "python/code_regions.hpp"

#include <algorithm>

#include "record/measurement.hpp"

namespace timeloom::python {

Py_ssize_t g_code_index = 0;

namespace {

struct Rules {
  Filter filter;
  std::string own_directory;
};

Rules& rules() {
  static Rules* const instance = new Rules;
  return *instance;
}

std::string module_of(PyObject* globals) {
  if (globals == nullptr || !PyDict_Check(globals)) return {};
  PyObject* name = PyDict_GetItemString(globals, "__name__");  // borrowed
  return name != nullptr && PyUnicode_Check(name) ? text_of(name) : std::string{};
}

std::uint32_t last_line_of(PyCodeObject* code) {
  int last = code->co_firstlineno;
  const Ref lines(PyObject_CallMethod(reinterpret_cast<PyObject*>(code), "co_lines", nullptr));
  const Ref iterator(lines ? PyObject_GetIter(lines.get()) : nullptr);
  while (iterator) {
    const Ref item(PyIter_Next(iterator.get()));
    if (!item) break;
    PyObject* line = PyTuple_GET_ITEM(item.get(), 2);
    if (line != Py_None) last = std::max(last, static_cast<int>(PyLong_AsLong(line)));
  }
  PyErr_Clear();
  return last > 0 ? static_cast<std::uint32_t>(last) : 0;
}

Region region_of(PyCodeObject* code, PyObject* globals) {
  Region region;
  region.group = module_of(globals);
  const std::string qualified = text_of(code->co_qualname);
  region.name = region.group.empty() ? qualified : region.group + "." + qualified;
  region.canonical_name = region.name;
  region.file = text_of(code->co_filename);
  region.first_line = code->co_firstlineno > 0 ? static_cast<std::uint32_t>(code->co_firstlineno) : 0;
  region.paradigm = Paradigm::kCompiler;
  region.role = RegionRole::kFunction;
  return region;
}

}  // namespace

bool excludes(const Region& region) {
  const Rules& r = rules();
  if (!r.own_directory.empty() && region.file.starts_with(r.own_directory)) return true;
  return r.filter.excluded(region.name, region.file);
}

std::string text_of(PyObject* object) {
  Py_ssize_t size = 0;
  if (const char* text = PyUnicode_AsUTF8AndSize(object, &size)) {
    return {text, static_cast<std::size_t>(size)};
  }
  PyErr_Clear();
  const Ref bytes(PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace"));
  if (!bytes) {
    PyErr_Clear();
    return "?";
  }
  return {PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

EventWord decide_word(PyCodeObject* code, PyObject* globals) noexcept {
  const ErrorGuard guard;
  try {
    Region region = region_of(code, globals);
    EventWord word = kExcluded;
    if (!excludes(region)) {
      region.last_line = last_line_of(code);
      word = record::enter_word(record::define_region(region));
    }
    store_code_extra(code, g_code_index, word);
    return word;
  } catch (const std::exception&) {
    return kExcluded;  // out of memory: this call is not recorded, the next may be
  }
}

bool set_filter(const Filter& filter, const std::string& own_directory) {
  static bool has_index = false;
  Rules& r = rules();
  const bool same = has_index && r.filter == filter && r.own_directory == own_directory;
  if (!same) {
    const Py_ssize_t index = new_code_extra_index();
    if (index < 0) return has_index;
    g_code_index = index;
    has_index = true;
    r.filter = filter;
    r.own_directory = own_directory;
  }
  return true;
}

}  // namespace timeloom::python
