#include "python/interpreter/python_text.hpp"

#include <filesystem>
#include <system_error>

#include "python/interpreter/errors.hpp"

namespace timeloom::python {

PyObject* checked(PyObject* object) {
  if (object == nullptr) throw PythonError();
  return object;
}

std::string bytes_of(PyObject* text) {
  Ref bytes(PyUnicode_EncodeFSDefault(text));
  if (!bytes) {  // a lone surrogate that stands for no byte
    PyErr_Clear();
    bytes = Ref(checked(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass")));
  }
  return {PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

PyObject* object_of(const std::string& bytes) {
  return PyUnicode_DecodeFSDefaultAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
}

std::vector<std::string> words_of(PyObject* sequence) {
  std::vector<std::string> words;
  Ref fast(checked(PySequence_Fast(sequence, "a list of str")));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    words.push_back(bytes_of(PySequence_Fast_GET_ITEM(fast.get(), i)));
  }
  return words;
}

PyObject* list_of(const std::vector<std::string>& words) {
  Ref list(PyList_New(0));
  if (!list) return nullptr;
  for (const std::string& word : words) {
    const Ref text(object_of(word));
    if (!text || PyList_Append(list.get(), text.get()) < 0) return nullptr;
  }
  return list.release();
}

namespace {

// Texts of a trace end at the first zero, whatever comes behind.
std::string without_zeros(std::string text) {
  for (std::size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at)) {
    text.replace(at, 1, "\\x00");
  }
  return text;
}

}  // namespace

std::string utf8_text(PyObject* object) {
  Py_ssize_t size = 0;
  if (const char* text = PyUnicode_AsUTF8AndSize(object, &size)) {
    return without_zeros({text, static_cast<std::size_t>(size)});
  }
  PyErr_Clear();
  const Ref bytes(PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace"));
  if (!bytes) {
    PyErr_Clear();
    return "?";
  }
  return without_zeros(
      {PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))});
}

std::string file_text(PyObject* name) {
  if (PyUnicode_AsUTF8(name) != nullptr) return utf8_text(name);
  PyErr_Clear();
  const Ref bytes(PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape"));
  if (bytes) return PyBytes_AS_STRING(bytes.get());
  PyErr_Clear();
  return utf8_text(name);
}

// As it is found when the program changes its directory.
std::string absolute_file(std::string file) {
  if (file.empty() || file.front() == '/' || file.front() == '<') return file;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  return error ? file : (here / file).lexically_normal().string();
}

}  // namespace timeloom::python
